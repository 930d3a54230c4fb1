import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { limitPages } from '../../output/results.ts';
import { findVenue } from '../../records/find.ts';
import { copiesView, type MirrorCopy, repairView } from '../../records/views/mirror-view.ts';
import { counted } from '../../site/counted.ts';

const states = ['ok', 'tombstone', 'missing', 'stale', 'newer', 'damaged'] as const;
/** The store and its copy say the same. */
const good: readonly string[] = ['ok', 'tombstone'];
/** As `signage diff` has it: something differs. */
const differsExitCode = 9;

interface Asked {
  venue: string | undefined;
  state: (typeof states)[number] | undefined;
}

async function check(call: CommandContext, { venue, state }: Asked): Promise<number> {
  const venueId = venue === undefined ? undefined : (await findVenue(call, venue)).id;
  const query = {
    ...(venueId !== undefined && { venueId }),
    ...(state !== undefined && { state }),
  };
  const seen = { all: 0, differ: 0 };
  async function* watched(pages: AsyncIterable<readonly MirrorCopy[]>) {
    for await (const page of limitPages(pages, call.common.limit)) {
      seen.all += page.length;
      seen.differ += page.filter((copy) => !good.includes(copy.state)).length;
      yield page;
    }
  }
  await call.results.list(watched(call.pages('listMirror', { query })), copiesView(call));
  const { all, differ } = seen;
  if (differ === 0)
    call.note(`Nothing differs between the service and its copies: ${counted(all, 'screen')}.`);
  else
    call.note(
      `Of ${counted(all, 'screen')}, ${differ} ${differ === 1 ? 'differs' : 'differ'}: signage playlist mirror --repair mends that.`,
    );
  return differ === 0 ? 0 : differsExitCode;
}

async function repair(call: CommandContext): Promise<number> {
  const made = await call.change('repairMirror');
  if (!made) return 0;
  const { queued } = made.answer;
  call.note(
    `${counted(queued, 'screen')} queued; signage playlist mirror --check shows how their copies stand.`,
  );
  await call.results.record(made.answer, repairView);
  return 0;
}

export const command = defineCommand({
  summary: 'Check the copies of playlists in the object store, or mend them',
  description: `The service keeps a copy of each screen’s playlist in an object store (docs/object-store.md). The check compares them with what the
service has: ok and tombstone (withdrawn on both sides) are as they should be; missing, stale, newer and damaged are not, and then the exit code is 9.
Copies that are waiting to be made say since when. The repair has all of them looked at, and mended where they differ, in the background.`,
  options: {
    check: option.flag('--check', 'compare, and change nothing; so it does unless told otherwise'),
    repair: option.flag('--repair', 'mend what differs'),
    venue: option.text(
      '--venue <venue>',
      'check the screens of this venue, by id or name',
      'venue',
    ),
    state: option.choice(states, '--state <state>', 'show the copies in this state'),
  },
  examples: [
    ['signage playlist mirror --check', 'how all of them stand'],
    ['signage playlist mirror --check --state missing -o name', 'the screens that have none'],
    ['signage playlist mirror --repair', 'mends what differs'],
  ],
  operation: ['listMirror', 'repairMirror'],
  effect: 'changes',
  list: true,
  async run(call) {
    const { check: isCheck, repair: isRepair, venue, state } = call.options;
    if (isCheck && isRepair) throw usage('--check and --repair do not go together: choose one.');
    if (isRepair && (venue !== undefined || state !== undefined))
      throw usage('--venue and --state go with --check: --repair sees to all.');
    return isRepair ? repair(call) : check(call, { venue, state });
  },
});
