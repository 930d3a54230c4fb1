import { expect, it } from 'vitest';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startProgram } from '../../support/process/program.ts';
import { unitOptions } from '../../support/runtime/node-options.ts';
import { item } from '../../support/service/content.ts';
import { askHonestly, floods, quantile, startAttack } from './honest-tv.ts';
import { startServed } from './served.ts';

/** Largest acceptable ratio to the latency of a bare server. Smaller differences are noise. */
const most = 2;
const noiseMs = 1;
const flood = { connections: 64, perSecond: 4000 };
const honest = { kinds: ['playlist', 'events'], perSecond: 50 } as const;
/** The service and the flood have a core each. */
const [serviceCore, floodCore] = [0, 1];

/** Measures a TV alone, then beside each flood. Returns how much each raises its median latency. */
async function measure(name: string, aim: { url: string; screenId: string; key: string }) {
  let aloneMs = 0;
  const raised: Record<string, number> = {};
  for (const attack of [undefined, ...floods]) {
    const attackers = attack && (await startAttack({ attack, ...flood, ...aim }, floodCore));
    await askHonestly(aim, { ...honest, seconds: 1 });
    const { tookMs, statuses } = await askHonestly(aim, { ...honest, seconds: 3 });
    const met = await attackers?.met();
    await attackers?.stop();
    const p50Ms = quantile(tookMs, 0.5);
    console.log(
      `${name}, ${attack ?? 'alone'}: p50 ${p50Ms.toFixed(2)} ms, p99 ${quantile(tookMs, 0.99).toFixed(1)} ms; flood ${JSON.stringify(met?.statuses)}`,
    );
    expect(Object.keys(statuses), `${name}, ${attack}`).toEqual(['200', '202']);
    if (attack) raised[attack] = Math.max(noiseMs, p50Ms - aloneMs);
    else aloneMs = p50Ms;
  }
  return raised;
}

it('a flood without credentials slows a TV at most twice as much as on a bare server', async () => {
  const script = new URL('bare-server.js', import.meta.url);
  const options = { core: serviceCore, nodeOptions: unitOptions };
  const bare = await startProgram<{ url: string }>(script, [], options);
  const ofBare = await measure('bare server', { url: bare.first.url, screenId: 'x', key: 'x' });
  await bare.stop();
  const slowed: string[] = [];
  for (const store of [undefined, await freshDatabase()]) {
    const name = store === undefined ? 'embedded' : 'PostgreSQL';
    const served = await startServed({ store, core: serviceCore });
    const items = [item()];
    const path = `/v1/screens/${served.aim.screenId}/playlist`;
    expect((await served.manage('PUT', path, { items })).status).toBe(200);
    const raised = await measure(name, { url: served.url, ...served.aim });
    await served.stop();
    for (const attack of floods) {
      const [own = 0, bares = 0] = [raised[attack], ofBare[attack]];
      if (own > most * bares)
        slowed.push(
          `${name}, ${attack}: by ${own.toFixed(2)} ms; a bare server by ${bares.toFixed(2)} ms`,
        );
    }
  }
  expect(slowed).toEqual([]);
});
