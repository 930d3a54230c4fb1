import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProgram } from '../../support/process/program.ts';
import { impression } from '../../support/service/content.ts';
import { fillWithFleet } from '../fleet/fleet.ts';
import { startServed } from '../served.ts';

const token = `mak_${'HerdOfTvs'.repeat(4)}`;
const herd = 10_000;
const rounds = 3;
const barSeconds = 10;

interface Tally {
  /** Error responses by status. */
  refusals: Record<string, number>;
  withoutRetryAfter: number;
  /** Failed connections by error code. */
  lost: Record<string, number>;
  /** Times at which TVs had all three answers, in order. */
  servedMs: number[];
}

it('10,000 TVs that reconnect at once after an outage', async () => {
  const data = await temporaryFolder();
  const tvs = (await fillWithFleet(data, herd)).map(({ screenId, apiKey }) => ({
    screenId,
    apiKey,
  }));
  const batch = JSON.stringify(Array.from({ length: 10 }, () => impression({ duration: 15 })));
  for (let round = 0; round < rounds; round++) {
    // A fresh start is the outage.
    const served = await startServed(data, token);
    const load = await startProgram(new URL('herd-load.js', import.meta.url));
    const tally = await load.ask<Tally>({ url: served.url, tvs, batch });
    await load.stop();
    const { servedMs, refusals, withoutRetryAfter, lost } = tally;
    const at = (share: number) =>
      ((servedMs[Math.ceil(share * servedMs.length) - 1] ?? 0) / 1000).toFixed(1);
    const { cpuMs, longestHoldMs, residentMB } = await served.usage();
    console.log(
      `${herd} TVs: half served after ${at(0.5)} s, 99 % after ${at(0.99)} s, all after ${at(1)} s (bar: ${barSeconds}); refused ${JSON.stringify(refusals)}, ` +
        `${withoutRetryAfter} of them without Retry-After (bar: 0); lost ${JSON.stringify(lost)}; service: ${(cpuMs / 1000).toFixed(1)} s of CPU, ` +
        `longest hold ${longestHoldMs.toFixed(0)} ms, ${residentMB.toFixed(0)} MB`,
    );
    expect(servedMs).toHaveLength(herd);
    await served.stop();
  }
});
