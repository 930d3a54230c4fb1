import { expect, it } from 'vitest';
import { askHonestly, quantile } from './honest-tv.ts';
import { checkOverload, type Offered } from './overload.ts';
import { startServed } from './served.ts';

const capacity = 500;
// Size of one batch in the log.
const recordBytes = 620;
const [warmUpSeconds, seconds] = [10, 20];
const patienceMs = 10_000;

it('keeps its goodput at five and ten times the capacity of its disk, and rejects the rest', async () => {
  const served = await startServed({ bytesPerSecond: capacity * recordBytes });
  const honest = { url: served.url, ...served.aim };
  const rounds: Offered[] = [];
  for (const times of [1, 5, 10, 1]) {
    const perSecond = times * capacity;
    const load = { kinds: ['events'], perSecond } as const;
    const warmUp = askHonestly(honest, { ...load, seconds: warmUpSeconds });
    const { answers, statuses, waits } = await askHonestly(honest, {
      ...load,
      seconds,
      delaySeconds: warmUpSeconds,
    });
    await warmUp;
    const good = answers.filter(({ status, tookMs }) => status === '202' && tookMs <= patienceMs);
    // Answered within the measured seconds.
    const goodput = good.filter(({ endMs }) => endMs <= seconds * 1000).length / seconds;
    const late = (statuses['202'] ?? 0) - good.length;
    const counts = { ...statuses, '202': good.length, late };
    const goodMs = good.map(({ tookMs }) => tookMs);
    rounds.push({ perSecond, goodput, counts, waits, goodMs });
    const told = [...waits].map(Number).sort((a, b) => a - b);
    console.log(
      `${times}× of ${capacity}/s: goodput ${goodput.toFixed(0)}/s, answered after ${quantile(goodMs, 0.5).toFixed(0)} ms (p50), ${quantile(goodMs, 0.99).toFixed(0)} ms (p99); ` +
        `${JSON.stringify(counts)}; Retry-After ${told.length === 0 ? '-' : `${told[0]} to ${told.at(-1)}, ${told.length} different`}`,
    );
  }
  await served.stop();
  expect(checkOverload(rounds, capacity)).toEqual([]);
});
