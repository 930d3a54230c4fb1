import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { limitPages } from '../../output/results.ts';
import { findVenue } from '../../records/find.ts';
import { countText } from '../../records/text.ts';
import { copiesView, type MirrorCopy, repairView } from '../../records/views/playlist-views.ts';

const states = ['ok', 'tombstone', 'missing', 'stale', 'newer', 'damaged'] as const;
/** States in which the copy matches the store. */
const matchingStates: readonly string[] = ['ok', 'tombstone'];
/** The same exit code as for `signage diff`. */
const differsExitCode = 9;

interface CheckOptions {
  venue: string | undefined;
  state: (typeof states)[number] | undefined;
}

async function check(call: CommandContext, { venue, state }: CheckOptions): Promise<number> {
  const venueId = venue === undefined ? undefined : (await findVenue(call, venue)).id;
  const query = {
    ...(venueId !== undefined && { venueId }),
    ...(state !== undefined && { state }),
  };
  const counts = { all: 0, differ: 0 };
  async function* countedPages(pages: AsyncIterable<readonly MirrorCopy[]>) {
    for await (const page of limitPages(pages, call.common.limit)) {
      counts.all += page.length;
      counts.differ += page.filter((copy) => !matchingStates.includes(copy.state)).length;
      yield page;
    }
  }
  await call.results.list(countedPages(call.pages('listMirror', { query })), copiesView(call));
  const { all, differ } = counts;
  if (differ === 0) call.note(`All copies match the service: ${countText(all, 'screen')}.`);
  else
    call.note(
      `Of ${countText(all, 'screen')}, ${differ} ${differ === 1 ? 'differs' : 'differ'}. To repair: signage playlist mirror --repair`,
    );
  return differ === 0 ? 0 : differsExitCode;
}

async function repair(call: CommandContext): Promise<number> {
  const made = await call.change('repairMirror');
  if (!made) return 0;
  const { queued } = made.answer;
  call.note(
    `${countText(queued, 'screen')} queued for repair. To see the result: signage playlist mirror --check`,
  );
  await call.results.record(made.answer, repairView);
  return 0;
}

export const command = defineCommand({
  summary: 'Check or repair the playlist copies in the object store',
  description: `The service keeps a copy of each screen's playlist in an object store
(docs/object-store.md). --check compares the copies with the service. The states ok and tombstone
(withdrawn on both sides) match. The states missing, stale, newer and damaged differ; the exit code
is then 9. Pending copies show since when they wait. --repair checks all copies in the background
and repairs those that differ.`,
  options: {
    check: option.flag('--check', 'compare without changing anything (the default)'),
    repair: option.flag('--repair', 'repair the copies that differ'),
    venue: option.text('--venue <venue>', 'check only this venue, by id or name', 'venue'),
    state: option.choice(states, '--state <state>', 'show only copies in this state'),
  },
  examples: [
    ['signage playlist mirror --check', 'the state of all copies'],
    ['signage playlist mirror --check --state missing -o name', 'the screens without a copy'],
    ['signage playlist mirror --repair', 'repairs the copies that differ'],
  ],
  operation: ['listMirror', 'repairMirror'],
  effect: 'changes',
  list: true,
  async run(call) {
    const { check: isCheck, repair: isRepair, venue, state } = call.options;
    if (isCheck && isRepair) throw usage('Give --check or --repair, not both.');
    if (isRepair && (venue !== undefined || state !== undefined))
      throw usage('--venue and --state work only with --check. --repair covers all screens.');
    return isRepair ? repair(call) : check(call, { venue, state });
  },
});
