import { asObject } from '../../client/problem.ts';
import { ago } from './ago.ts';
import { type Finding, ok, warn } from './finding.ts';
import { mirrorFinding } from './mirror-check.ts';

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

/**
 * Reports the state of playlist origins and copies from `GET /readyz?verbose`. Returns nothing if
 * the service does not report it.
 */
export function originFindings(body: string, nowMs: number): Finding[] {
  const lines = body.split('\n').flatMap((line): Line[] => [asObject(line) ?? []].flat());
  return lines.flatMap((line) => {
    const component = text(line.component);
    if (component === 'mirror') return mirrorFinding(line, nowMs);
    return component?.startsWith('origin/') ? findingOf(component, line, nowMs) : [];
  });
}
