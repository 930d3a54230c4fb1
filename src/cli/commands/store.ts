import { isDatabaseUrl } from '../../domain/store-url.ts';
import {
  givenPlace,
  givenStore,
  readPlace,
  storeFileSetting,
  storeSetting,
  warnOfPassword,
} from '../connection/store-location.ts';
import { flag, text, withVariable } from '../input/option.ts';
import { type Setting, usage } from '../input/settings.ts';
import { member } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand } from '../program/spec.ts';
import { withProgress } from '../terminal/progress.ts';

const place = (flags: string, env: string, help: string): Setting<string | undefined> => ({
  ...withVariable(env, text(flags, help)),
  read: readPlace,
});

const copy = defineCommand({
  summary: 'Copy a whole store: from a data folder to PostgreSQL, or back',
  description: `Stop the service first: neither store may be in use. The copy includes all records,
the server secret, events with their ids, reports, the audit trail and idempotency keys. The target
store must be empty. At the end the command dumps the new store and compares it with the old one. An
interrupted copy leaves nothing behind: run it again. Exit codes: 0 both stores are equal, 9 they
differ, 5 a store is in use or not empty.`,
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
    withMedia: flag('--with-media', 'also copy the bytes of media files'),
    media: text(
      '--media <place>',
      'with --with-media: the media folder of the database, or s3://bucket/prefix',
    ),
  },
  examples: [
    [
      'signage store copy --from ./signage-data --to-file database.url',
      'from a data folder to a database; the file holds its URL',
    ],
    [
      'signage store copy --from ./signage-data --to-file database.url --dry-run',
      'shows how many records would be copied',
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
  const { planCopy } = await import('../../store/maintenance/copy.ts');
  await showCounts(call, await planCopy(from, to));
}

async function runCopy(call: CommandContext, from: string, to: string): Promise<void> {
  const { copyStore } = await import('../../store/maintenance/copy.ts');
  const { readAwsSettings } = await import('../connection/aws-settings.ts');
  const { withMedia, media } = call.options;
  const { counts, sha256, missingFiles } = await withProgress(call, (show) =>
    copyStore(from, to, {
      withMedia,
      media,
      aws: readAwsSettings(call.io),
      clock: call.clock,
      signal: call.interrupted,
      onProgress: (records) => show(`${records} records`),
    }),
  );
  await showCounts(call, counts);
  const { noteMissingFiles } = await import('../content/missing-files.ts');
  noteMissingFiles(call, missingFiles);
  call.note(
    `Everything was copied and compared: both dumps have the SHA-256 ${sha256}. Start the service on the new store. Keep the old store unchanged, and never start both: each would notify the receivers of webhooks.`,
  );
}

async function showCounts(
  call: CommandContext,
  counts: Partial<Record<string, number>>,
): Promise<void> {
  const rows = Object.entries(counts).map(([section, records = 0]) => ({ section, records }));
  await call.results.list([rows], {
    columns: [member('section'), member('records')],
    nameOf: ({ section }) => section,
  });
}

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
