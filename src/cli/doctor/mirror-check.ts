import { minuteMs } from '../../domain/clock.ts';
import { ago } from './ago.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Copies are made within seconds; so much later something is in their way. */
const lateMs = 5 * minuteMs;

/** How the copies of playlists fare, by what `GET /readyz?verbose` tells of them. */
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
      `${waiting}: copies fail, and the service’s log says why. They are tried again and again.`,
    );
  if (nowMs - oldestMs > lateMs) return warn('mirror', `${waiting}.`);
  return ok(
    'mirror',
    pending === 0 ? 'All playlists are copied to the object store.' : `${waiting}.`,
  );
}
