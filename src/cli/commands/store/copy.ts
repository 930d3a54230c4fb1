import { hasPassword } from '../../../domain/store-url.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import { text, withVariable } from '../../options/option.ts';
import type { Setting } from '../../options/settings.ts';
import type { View } from '../../output/view.ts';
import { givenPlace, readPlace } from '../../serve/store-location.ts';

const place = (flags: string, env: string, help: string): Setting<string | undefined> => ({
  ...withVariable(env, text(flags, help)),
  read: readPlace,
});

export const command = defineCommand({
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
    for (const flag of ['from', 'to'] as const) {
      if (hasPassword(String(flags[flag] ?? '')))
        call.note(
          `The database password is in the command line, where everyone on this machine can read it: use --${flag}-file.`,
        );
    }
    if (call.common.dryRun) await plan(call, from, to);
    else await copy(call, from, to);
  },
});

async function plan(call: CommandContext, from: string, to: string): Promise<void> {
  const { planCopy } = await import('../../../store/copy/copy-store.ts');
  await call.results.list(pageOf(await planCopy(from, to)), {
    columns: [
      { name: 'section', value: ({ section }) => section },
      { name: 'records', value: ({ records }) => records },
      { name: 'copied', value: ({ copied }) => copied },
    ],
    nameOf: ({ section }) => section,
  });
}

async function copy(call: CommandContext, from: string, to: string): Promise<void> {
  const [{ copyStore }, { makeProgress }, { SignageError }] = await Promise.all([
    import('../../../store/copy/copy-store.ts'),
    import('../../terminal/progress.ts'),
    import('../../../domain/error.ts'),
  ]);
  const progress = makeProgress(call);
  const compared = await copyStore(from, to, {
    clock: call.clock,
    signal: call.interrupted,
    onResume: () => call.note('Continuing the interrupted copy.'),
    onProgress: (what, section, done, all) =>
      progress.show(`${what} ${section}: ${done} of ${all}`),
  }).finally(() => progress.end());
  await call.results.list(pageOf(compared), comparedView);
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
    { name: 'section', value: ({ section }) => section },
    { name: 'source', value: ({ source }) => source },
    { name: 'target', value: ({ target }) => target },
    { name: 'same', value: ({ same }) => same },
    { name: 'sourceChecksum', value: ({ sourceChecksum }) => sourceChecksum, wide: true },
    { name: 'targetChecksum', value: ({ targetChecksum }) => targetChecksum, wide: true },
  ],
  nameOf: ({ section }) => section,
};

async function* pageOf<T>(page: readonly T[]): AsyncGenerator<readonly T[]> {
  yield page;
}
