import { SignageError } from '../../domain/error.ts';
import { isDatabaseUrl } from '../../domain/store-url.ts';
import type { CommandContext } from '../command/context.ts';
import { defineCommand } from '../command/spec.ts';
import { text, withVariable } from '../options/option.ts';
import { type Setting, usage } from '../options/settings.ts';
import { member, type View } from '../output/view.ts';
import {
  givenPlace,
  givenStore,
  readPlace,
  storeFileSetting,
  storeSetting,
  warnOfPassword,
} from '../serve/store-location.ts';
import { withProgress } from '../terminal/progress.ts';

const place = (flags: string, env: string, help: string): Setting<string | undefined> => ({
  ...withVariable(env, text(flags, help)),
  read: readPlace,
});

const copy = defineCommand({
  summary: 'Copy a whole store: from a data folder to PostgreSQL, or back',
  description: `Stop the service first: neither store may be in use. The copy includes all records,
the server secret, events with their ids, reports, the audit trail and idempotency keys. The target
store must be empty. Run the same command again to continue an interrupted copy. No service starts
on an incomplete copy. At the end the command compares counts and checksums of each section. Exit
codes: 0 both stores are equal, 9 they differ, 5 a store is in use or not empty.`,
  options: {
    from: place(
      '--from <place>',
      'SIGNAGE_STORE_FROM',
      'the store to copy: a data folder, or postgres://user@host/database',
    ),
    fromFile: withVariable(
      'SIGNAGE_STORE_FROM_FILE',
      text(
        '--from-file <file>',
        'file that holds the URL of the database to copy, with its password',
      ),
    ),
    to: place(
      '--to <place>',
      'SIGNAGE_STORE_TO',
      'the store to copy into: an empty folder or database',
    ),
    toFile: withVariable(
      'SIGNAGE_STORE_TO_FILE',
      text('--to-file <file>', 'file that holds the URL of the database to copy into'),
    ),
  },
  examples: [
    [
      'signage store copy --from ./signage-data --to-file database.url',
      'from a data folder to a database; the file holds its URL',
    ],
    [
      'signage store copy --from ./signage-data --to-file database.url --dry-run',
      'shows how much would be copied',
    ],
    [
      'SIGNAGE_STORE_FROM=postgres://signage:…@db/signage?sslmode=verify-full signage store copy --to ./signage-data',
      'from a database to a data folder',
    ],
  ],
  effect: 'changes',
  local: true,
  async run(call) {
    const { options, flags } = call;
    const from = await givenPlace('--from', options.from, options.fromFile);
    const to = await givenPlace('--to', options.to, options.toFile);
    for (const flag of ['from', 'to']) warnOfPassword(flags[flag], `--${flag}-file`, call.note);
    if (call.common.dryRun) await showPlan(call, from, to);
    else await runCopy(call, from, to);
  },
});

async function showPlan(call: CommandContext, from: string, to: string): Promise<void> {
  const { planCopy } = await import('../../store/copy/copy-store.ts');
  await call.results.list([await planCopy(from, to)], {
    columns: [member('section'), member('records'), member('copied')],
    nameOf: ({ section }) => section,
  });
}

async function runCopy(call: CommandContext, from: string, to: string): Promise<void> {
  const { copyStore } = await import('../../store/copy/copy-store.ts');
  const compared = await withProgress(call, (show) =>
    copyStore(from, to, {
      clock: call.clock,
      signal: call.interrupted,
      onResume: () => call.note('Continuing the interrupted copy.'),
      onProgress: (what, section, done, all) => show(`${what} ${section}: ${done} of ${all}`),
    }),
  );
  await call.results.list([compared], comparedView);
  const differing = compared.filter(({ same }) => !same).map(({ section }) => section);
  if (differing.length === 0)
    return call.note(
      'Everything was copied and compared. Start the service on the new store. Keep the old store unchanged.',
    );
  const message = `The two stores differ in ${differing.join(', ')}. No service starts on the copy. Empty it, then copy again.`;
  throw new SignageError('copy_differs', message);
}

interface Compared {
  section: string;
  source: number;
  target: number;
  sourceChecksum: string;
  targetChecksum: string;
  same: boolean;
}

const comparedView: View<Compared> = {
  columns: [
    member('section'),
    member('source'),
    member('target'),
    member('same'),
    member('sourceChecksum', { wide: true }),
    member('targetChecksum', { wide: true }),
  ],
  nameOf: ({ section }) => section,
};

const migrate = defineCommand({
  summary: 'Create the schema in a PostgreSQL database',
  description: `signage serve creates the schema in an empty database when it starts. Use this command
to create it with another database role, or to see the steps first (--dry-run).`,
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
    warnOfPassword(call.flags.store, 'SIGNAGE_STORE or --store-file', call.note);
    if (!isDatabaseUrl(store))
      throw usage(
        'There is no database to migrate. Name it with SIGNAGE_STORE, --store or --store-file.',
      );
    const { migrateDatabase } = await import('../../store/postgres/open.ts');
    const { dryRun } = call.common;
    const steps = await migrateDatabase(store, { dryRun });
    if (steps.length === 0) call.note('The schema is up to date.');
    else call.note(dryRun ? 'Pending steps:' : 'Completed steps:');
    await call.results.list([steps.map((step) => ({ step }))], {
      columns: [member('step')],
      nameOf: ({ step }) => step,
    });
  },
});

export const store = { copy, migrate };
