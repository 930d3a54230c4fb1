import { expect, it } from 'vitest';
import { offerLoad } from './offer.ts';
import { checkOverload, type Offered } from './offered.ts';
import { startServed } from './served.ts';

const capacity = 500;
// Size of one batch in the log.
const recordBytes = 620;
const seconds = 20;

const at = (sorted: number[], share: number) =>
  (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);

it('keeps its goodput at five and ten times the capacity of its disk, and rejects the rest', async () => {
  const served = await startServed({ bytesPerSecond: capacity * recordBytes });
  const rounds: Offered[] = [];
  for (const times of [1, 5, 10, 1]) {
    const round = await offerLoad(served.url, served.aim, {
      perSecond: times * capacity,
      warmUpSeconds: 10,
      seconds,
      patienceMs: 10_000,
    });
    rounds.push(round);
    const { goodput, counts, waits, goodMs } = round;
    const took = goodMs.toSorted((a, b) => a - b);
    const told = [...waits].map(Number).sort((a, b) => a - b);
    console.log(
      `${times}× of ${capacity}/s: goodput ${goodput.toFixed(0)}/s, answered after ${at(took, 0.5)} ms (p50), ${at(took, 0.99)} ms (p99); ` +
        `${JSON.stringify(counts)}; Retry-After ${told.length === 0 ? '-' : `${told[0]} to ${told.at(-1)}, ${told.length} different`}`,
    );
  }
  await served.stop();
  expect(checkOverload(rounds, capacity)).toEqual([]);
});
