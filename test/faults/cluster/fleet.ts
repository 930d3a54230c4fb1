// A fleet of simulated TVs as load. It records the answers and compares them with the stored data.
import { Agent, request } from 'undici';
import { type Clock, hourMs, systemClock } from '../../../src/domain/clock.ts';
import { runFleet } from '../../../src/simulator/fleet/fleet.ts';
import type { FleetOptions } from '../../../src/simulator/fleet/options.ts';
import type { FleetReport } from '../../../src/simulator/fleet/report.ts';
import type { Tried } from './load.ts';

/** Longer than any test. `stop` ends the fleet. */
const endlessMs = 1000 * hourMs;
/** At 60 times the real speed, each TV syncs and reports every second. */
const life = { speed: 60, config: { syncIntervalMinutes: 1, heartbeatIntervalMinutes: 1 } };
/** Lost answers and duplicate requests, in addition to the fault under test. */
const faults = ['lost-answer:events:2%', 'duplicate:events:2%', 'lost-answer:register:20%'];

export interface FleetLoad {
  /** Resolves when all TVs play. */
  playing: Promise<void>;
  /** Lets the TVs send their queued events, and compares. */
  stop(): Promise<FleetReport>;
}

/** The system clock, on which `end` fires the timer of the fleet's duration. */
function endedBy(): { clock: Clock; end: () => void } {
  let wake = () => {};
  const after: Clock['after'] = (delayMs, call) => {
    if (delayMs < endlessMs) return systemClock.after(delayMs, call);
    if (delayMs === endlessMs) wake = call;
    return () => {};
  };
  return { clock: { now: systemClock.now, after }, end: () => wake() };
}

/** Records each attempt. */
function watching(tries: Tried[]): {
  makeRequester: FleetOptions['makeRequester'];
  close(): Promise<void>;
} {
  const dispatcher = new Agent({ connections: 128, headersTimeout: 0, bodyTimeout: 0 });
  const makeRequester: FleetOptions['makeRequester'] = async () => async (url, parts) => {
    const what = `${parts.method} ${new URL(url).pathname.replaceAll(/[0-9a-f-]{36}/g, ':id')}`;
    try {
      const answer = await request(url, { ...parts, method: parts.method as 'GET', dispatcher });
      tries.push({ at: performance.now(), what, outcome: String(answer.statusCode) });
      return answer;
    } catch (error) {
      tries.push({ at: performance.now(), what, outcome: 'unreachable' });
      throw error;
    }
  };
  return { makeRequester, close: () => dispatcher.destroy() };
}

export function startFleetLoad(
  { url, token }: { url: string; token: string },
  count: number,
  tries: Tried[],
): FleetLoad {
  const { clock, end } = endedBy();
  const { makeRequester, close } = watching(tries);
  let allPlay = () => {};
  const playing = new Promise<void>((resolve) => {
    allPlay = resolve;
  });
  const onProgress: FleetOptions['onProgress'] = ({ phases }) => {
    if (phases.playing === count) allPlay();
  };
  const times = {
    durationMs: endlessMs,
    lifeMs: 2 * life.speed * endlessMs,
    clock,
    seed: 'cluster',
  };
  const report = runFleet({
    url,
    token,
    count,
    venue: 'Fleet',
    ...life,
    faults,
    ...times,
    makeRequester,
    onProgress,
  });
  return {
    playing: Promise.race([playing, report.then(() => {})]),
    async stop() {
      end();
      return report.finally(close);
    },
  };
}

/** Returns the violations. */
export function violations({ reconciliation, endpoints, tvs }: FleetReport): string[] {
  const { outcome, findings } = reconciliation;
  const strange = endpoints.flatMap(({ operation, answers }) =>
    Object.keys(answers).flatMap((status) =>
      isExpected(operation, status) ? [] : [`${operation} was answered ${status}`],
    ),
  );
  const bound = tvs.bound === tvs.count ? [] : [`${tvs.bound} of ${tvs.count} TVs were bound`];
  const compared =
    outcome === 'compared' ? [] : [`nothing was compared: ${JSON.stringify(reconciliation)}`];
  return [
    ...compared,
    ...bound,
    ...findings.map(({ code, count, message }) => `${code} (${count}): ${message}`),
    ...strange,
  ];
}

/** Allows 503, and 500 for a playlist or config that cannot be fetched. */
function isExpected(operation: string, status: string): boolean {
  if (status === 'none' || status === '503' || /^(2|304)/.test(status)) return true;
  return status === '500' && (operation === 'getPlaylist' || operation === 'getDeviceConfig');
}
