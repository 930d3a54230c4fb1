import { asObject } from '../../client/problem.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { ago, span } from '../records/text.ts';
import { type Finding, ok, warn } from './finding.ts';

type Line = Record<string, unknown>;

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Describes the last failure of a playlist origin. */
function lastFailure({ lastError }: Line, nowMs: number): string | undefined {
  const { code, at } = (lastError ?? {}) as Line;
  return text(code) && text(at) ? `${code} ${ago(text(at) as string, nowMs)}` : undefined;
}

function findingOf(check: string, line: Line, nowMs: number): Finding {
  const failure = lastFailure(line, nowMs);
  const since = text(line.since) ? ` since ${ago(text(line.since) as string, nowMs)}` : '';
  if (line.status === 'open') {
    return warn(
      check,
      `Its circuit breaker is open${since}: too many failures. It is probed every 2 s. Last failure: ${failure ?? 'see the service log'}.`,
    );
  }
  if (line.status !== 'ok')
    return warn(
      check,
      `It fails${since}: ${failure ?? 'see the service log'}. The service uses the next origin.`,
    );
  const answers =
    typeof line.latencyMs === 'number'
      ? `It answers within ${Math.max(1, Math.round(line.latencyMs))} ms`
      : 'It has not been used yet';
  return ok(check, failure ? `${answers}. Last failure: ${failure}.` : `${answers}.`);
}

/** Reports a difference between the machine of the service and the time of its store. */
function clockFinding({ status, storeAheadSeconds }: Line): Finding | [] {
  const seconds = Number(storeAheadSeconds);
  if (status === 'ok' || Number.isNaN(seconds)) return [];
  const how = `${span(seconds * secondMs)} ${seconds > 0 ? 'behind' : 'ahead of'} the time of its store`;
  return warn(
    'store clock',
    `The clock of the service's machine is ${how}. Nothing expires wrongly, but times of new records may be off. Synchronize the clocks with NTP.`,
  );
}

/** Copying normally takes seconds. A playlist that has waited longer than this is late. */
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

/**
 * Reports the state of playlist origins and copies from `GET /readyz?verbose`. Returns an empty
 * array if the service does not report it.
 */
export function originFindings(body: string, nowMs: number): Finding[] {
  const lines = body.split('\n').flatMap((line): Line[] => [asObject(line) ?? []].flat());
  return lines.flatMap((line) => {
    const component = text(line.component);
    if (component === 'mirror') return mirrorFinding(line, nowMs);
    if (component === 'clock') return clockFinding(line);
    return component?.startsWith('origin/') ? findingOf(component, line, nowMs) : [];
  });
}
