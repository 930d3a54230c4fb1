import { isDatabaseUrl } from '../../../domain/store-url.ts';
import { defineCommand } from '../../command/spec.ts';
import { usage } from '../../options/settings.ts';
import {
  givenStore,
  showsPassword,
  storeFileSetting,
  storeSetting,
} from '../../serve/store-location.ts';

interface Step {
  step: string;
}

export const command = defineCommand({
  summary: 'Migrate the schema of a PostgreSQL database',
  description: `signage serve runs the same migrations when it starts. Use this command to migrate
with another database role, or to see the steps first (--dry-run). Migrations cannot be undone.
Running instances of the previous version keep working, except where the release notes say
otherwise.`,
  options: { store: storeSetting, storeFile: storeFileSetting },
  examples: [
    [
      'SIGNAGE_STORE=postgres://owner:…@db/signage?sslmode=verify-full signage store migrate',
      'the URL comes from the environment, where only you can read it',
    ],
    ['signage store migrate --store-file database.url --dry-run', 'lists the pending steps'],
  ],
  effect: 'changes',
  local: true,
  async run(call) {
    const store = await givenStore(call.options);
    if (showsPassword(call.flags)) {
      call.note(
        'The database password is in the command line, where everyone on this machine can read it: use SIGNAGE_STORE or --store-file.',
      );
    }
    if (!isDatabaseUrl(store))
      throw usage(
        'There is no database to migrate. Name it with SIGNAGE_STORE, --store or --store-file.',
      );
    const { migrateDatabase } = await import('../../../store/postgres/open.ts');
    const { dryRun } = call.common;
    const steps = await migrateDatabase(store, { dryRun });
    if (steps.length === 0) call.note('The schema is up to date.');
    else call.note(dryRun ? 'Pending steps:' : 'Completed steps:');
    const page = steps.map((step): Step => ({ step }));
    await call.results.list(pagesOf(page), {
      columns: [{ name: 'step', value: ({ step }) => step }],
      nameOf: ({ step }) => step,
    });
  },
});

async function* pagesOf(page: readonly Step[]): AsyncGenerator<readonly Step[]> {
  yield page;
}
