import { asObject } from '../../client/problem.ts';
import { ago } from './ago.ts';
import { type Finding, ok, warn } from './finding.ts';
import { mirrorFinding } from './mirror-check.ts';

type Line = Record<string, unknown>;

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** How an origin of playlists failed last, and when. */
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
      `It failed so often that it is left alone${since}, but for a look every 2 s: ${failure ?? 'see the service’s log'}.`,
    );
  }
  if (line.status !== 'ok')
    return warn(
      check,
      `It fails${since}: ${failure ?? 'see the service’s log'}. The next origin is asked.`,
    );
  const answers =
    typeof line.latencyMs === 'number'
      ? `It answers within ${Math.max(1, Math.round(line.latencyMs))} ms`
      : 'Nobody has asked it yet';
  return ok(check, failure ? `${answers}; it failed last with ${failure}.` : `${answers}.`);
}

/** How the places fare where playlists come from, by what `GET /readyz?verbose` tells; a service that does not level has nothing to say. */
export function originFindings(body: string, nowMs: number): Finding[] {
  const lines = body.split('\n').flatMap((line): Line[] => [asObject(line) ?? []].flat());
  return lines.flatMap((line) => {
    const component = text(line.component);
    if (component === 'mirror') return mirrorFinding(line, nowMs);
    return component?.startsWith('origin/') ? findingOf(component, line, nowMs) : [];
  });
}
