import { expect, it } from 'vitest';
import { item } from '../../support/content.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { floods, type Met, meet, serviceCore, startBare } from './floods.ts';
import { startServed } from './served.ts';

/** Largest acceptable ratio to the latency of a bare server. Smaller differences are noise. */
const most = 2;
const noiseMs = 1;

type Round = Record<string, Met>;

/** Measures a TV alone, then beside each flood. */
async function measure(
  name: string,
  url: string,
  aim: { screenId: string; key: string },
): Promise<Round> {
  const round: Round = { alone: await meet(url, aim) };
  for (const flood of floods) round[flood] = await meet(url, aim, flood);
  for (const [what, { p50Ms, p99Ms, ahead, wrong, statuses }] of Object.entries(round)) {
    const answers = JSON.stringify(statuses);
    console.log(
      `${name}, ${what}: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(1)} ms, ${ahead} of the flood ahead; flood ${answers}; wrong ${JSON.stringify(wrong)}`,
    );
  }
  return round;
}

const raise = (round: Round, flood: string) =>
  Math.max(noiseMs, (round[flood] as Met).p50Ms - (round.alone as Met).p50Ms);

it('a flood without credentials slows a TV at most twice as much as on a bare server', async () => {
  const bare = await startBare();
  const ofBare = await measure('bare server', bare.url, { screenId: 'x', key: 'x' });
  await bare.stop();
  const slowed: string[] = [];
  for (const [name, store] of [
    ['embedded', undefined],
    ['PostgreSQL', await freshDatabase()],
  ] as const) {
    const served = await startServed({ store, core: serviceCore });
    const { status } = await served.manage('PUT', `/v1/screens/${served.aim.screenId}/playlist`, {
      items: [item()],
    });
    expect(status).toBe(200);
    const round = await measure(name, served.url, served.aim);
    await served.stop();
    for (const flood of floods) {
      const [own, bares] = [raise(round, flood), raise(ofBare, flood)];
      if (own > most * bares)
        slowed.push(
          `${name}, ${flood}: by ${own.toFixed(2)} ms; a bare server by ${bares.toFixed(2)} ms`,
        );
      expect(round[flood]?.wrong, `${name}, ${flood}`).toEqual({});
    }
  }
  expect(slowed).toEqual([]);
});
