import type { Reader } from '../../store/store.ts';
import { readLoop } from '../versions/loops.ts';

/**
 * Divides the time of contents among their campaigns or creatives, by the durations of their items.
 *
 * @param times in milliseconds, by the id of the content; `null`: of the on-demand source
 * @param add gets the share of a campaign or creative
 * @param isUnknown called if nobody knows what a part of the time was
 */
export async function divideTimes(
  reader: Pick<Reader, 'get'>,
  times: ReadonlyMap<string | null, number>,
  member: 'campaignId' | 'creativeId',
  {
    add,
    isUnknown,
    takeTurns,
  }: {
    add: (id: string, ms: number) => void;
    isUnknown: () => void;
    takeTurns: () => Promise<void>;
  },
): Promise<void> {
  for (const [contentId, ms] of times) {
    await takeTurns();
    const items = contentId === null ? undefined : await readLoop(reader, contentId);
    if (!items) {
      isUnknown();
      continue;
    }
    const whole = items.reduce((sum, { duration }) => sum + duration, 0);
    const shares = new Map<string, number>();
    for (const { duration, ...ids } of items) {
      const id = ids[member];
      if (id !== undefined) shares.set(id, (shares.get(id) ?? 0) + duration);
    }
    for (const [id, share] of shares) add(id, Math.round((ms * share) / whole));
  }
}
