import type { MirrorCopy } from '../../../client/entities.ts';
import { limitPages } from '../../output/results.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { ofVenues, venueIdsOf } from '../../records/of-venues.ts';
import { copiesView, repairView } from '../../records/views/playlist-views.ts';
import { countText } from '../../terminal/text.ts';

export const copyStates = ['ok', 'tombstone', 'missing', 'stale', 'newer', 'damaged'] as const;
/** States in which the copy matches the store. */
const matchingStates: readonly string[] = ['ok', 'tombstone'];
interface CheckOptions {
  venue: readonly string[];
  state: (typeof copyStates)[number] | undefined;
}

/**
 * Lists the copies in the object store. Returns the exit code 9 if one does not match the service.
 */
export async function checkCopies(
  call: CommandContext,
  { venue, state }: CheckOptions,
): Promise<number> {
  const venueIds = await venueIdsOf(call, venue);
  const counts = { all: 0, differ: 0 };
  async function* countedPages(pages: AsyncIterable<readonly MirrorCopy[]>) {
    for await (const page of limitPages(pages, call.common.limit)) {
      counts.all += page.length;
      counts.differ += page.filter((copy) => !matchingStates.includes(copy.state)).length;
      yield page;
    }
  }
  await call.results.list(
    countedPages(
      ofVenues(venueIds, (venueId) => call.pages('listMirror', { query: { venueId, state } })),
    ),
    copiesView(call),
  );
  const { all, differ } = counts;
  if (differ === 0) call.note(`All copies match the service: ${countText(all, 'screen')}.`);
  else
    call.note(
      `Of ${countText(all, 'screen')}, ${differ} ${differ === 1 ? 'differs' : 'differ'}. To repair: signage playlist mirror --repair`,
    );
  return differ === 0 ? 0 : failedExitCode;
}

/** Queues the repair of all copies. */
export async function repairCopies(call: CommandContext): Promise<number> {
  const made = await call.change('repairMirror');
  if (!made) return 0;
  const { queued } = made.answer;
  call.note(
    `${countText(queued, 'screen')} queued for repair. To see the result: signage playlist mirror`,
  );
  await call.results.record(made.answer, repairView);
  return 0;
}
