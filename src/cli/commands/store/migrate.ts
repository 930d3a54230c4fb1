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
  summary: 'Bring the schema of a PostgreSQL database up to date',
  description: `serve does the same when it starts. This command is for those who let another role change the schema, or want to see first what there is to do
(--dry-run). There is no way back. Instances of the former version that still run go on as before, unless the release notes say otherwise.`,
  options: { store: storeSetting, storeFile: storeFileSetting },
  examples: [
    [
      'SIGNAGE_STORE=postgres://owner:…@db/signage?sslmode=verify-full signage store migrate',
      'the URL from the environment, where only you can read it',
    ],
    ['signage store migrate --store-file database.url --dry-run', 'what there is to do'],
  ],
  effect: 'changes',
  local: true,
  async run(call) {
    const store = await givenStore(call.options);
    if (showsPassword(call.flags)) {
      call.note(
        'The database password stands in the command line, for everybody on this machine to read: use SIGNAGE_STORE or --store-file.',
      );
    }
    if (!isDatabaseUrl(store))
      throw usage(
        'There is no database to bring up to date: SIGNAGE_STORE, --store or --store-file names it.',
      );
    const { migrateDatabase } = await import('../../../store/postgres/open.ts');
    const { dryRun } = call.common;
    const steps = await migrateDatabase(store, { dryRun });
    if (steps.length === 0) call.note('The schema is up to date.');
    else call.note(dryRun ? 'There is this to do:' : 'Done:');
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
