import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { impression } from '../support/content.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillWithFleet } from './fleet.ts';
import { startServed } from './served.ts';

const token = `mak_${'HerdOfTvs'.repeat(4)}`;
const herd = 10_000;
const rounds = 3;
const mostSeconds = 10;

interface Tally {
  /** Answers that were no success, by status. */
  refusals: Record<string, number>;
  withoutRetryAfter: number;
  /** Connections that broke or could not be made, by error. */
  lost: Record<string, number>;
  /** When each TV had all that it came for, in order. */
  servedMs: number[];
}

it('a fleet that comes back at once after an outage', async () => {
  const data = await temporaryFolder();
  const tvs = (await fillWithFleet(data, herd)).map(({ screenId, apiKey }) => ({
    screenId,
    apiKey,
  }));
  const batch = JSON.stringify(Array.from({ length: 10 }, () => impression({ duration: 15 })));
  for (let round = 0; round < rounds; round++) {
    // Each round is an outage: the service has just been started.
    const served = await startServed(data, token);
    const child = fork(fileURLToPath(new URL('herd-load.js', import.meta.url)), [], {
      execArgv: [],
    });
    child.send({ url: served.url, tvs, batch });
    const [tally] = (await once(child, 'message')) as [Tally];
    const { servedMs, refusals, withoutRetryAfter, lost } = tally;
    const at = (share: number) =>
      ((servedMs[Math.ceil(share * servedMs.length) - 1] ?? 0) / 1000).toFixed(1);
    const { cpuMs, longestHoldMs, residentMB } = await served.fared();
    console.log(
      `${herd} TVs: half served after ${at(0.5)} s, 99 % after ${at(0.99)} s, all after ${at(1)} s (bar: ${mostSeconds}); refused ${JSON.stringify(refusals)}, ` +
        `${withoutRetryAfter} of them without Retry-After (bar: 0); lost ${JSON.stringify(lost)}; service: ${(cpuMs / 1000).toFixed(1)} s of CPU, ` +
        `longest hold ${longestHoldMs.toFixed(0)} ms, ${residentMB.toFixed(0)} MB`,
    );
    expect(servedMs).toHaveLength(herd);
    await served.stop();
  }
});
