import { minuteMs } from '../clock.ts';

/** The intervals of a config, in minutes. */
interface Intervals {
  syncIntervalMinutes: number;
  heartbeatIntervalMinutes: number;
}

/** Returns the time within which an online device has called (docs/protocol.md §2.7). */
export function onlineWindowMs({
  syncIntervalMinutes,
  heartbeatIntervalMinutes,
}: Intervals): number {
  return 2 * minuteMs * Math.max(syncIntervalMinutes, heartbeatIntervalMinutes);
}
