import { minuteMs } from '../../domain/clock.ts';
import { ago } from './ago.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Copies normally take seconds. A copy older than this is late. */
const lateMs = 5 * minuteMs;

/** Reports the state of playlist copies from `GET /readyz?verbose`. */
export function mirrorFinding(
  { status, pending, oldest }: Readonly<Record<string, unknown>>,
  nowMs: number,
): Finding {
  const oldestMs = typeof oldest === 'string' ? Date.parse(oldest) : Number.NaN;
  const since = Number.isNaN(oldestMs) ? '' : `, the oldest since ${ago(oldest as string, nowMs)}`;
  const waiting = `${pending} ${pending === 1 ? 'playlist is' : 'playlists are'} not copied to the object store yet${since}`;
  if (status !== 'ok')
    return warn(
      'mirror',
      `${waiting}: copying fails. See the log of the service. It keeps retrying.`,
    );
  if (nowMs - oldestMs > lateMs) return warn('mirror', `${waiting}.`);
  return ok(
    'mirror',
    pending === 0 ? 'All playlists are copied to the object store.' : `${waiting}.`,
  );
}
