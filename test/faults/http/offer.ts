import type { Aim } from './attack.ts';
import type { Offered } from './offered.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

export interface Offer {
  perSecond: number;
  /** Seconds before and during the measurement. */
  warmUpSeconds: number;
  seconds: number;
  patienceMs: number;
}

const sliceMs = 10;
const body = JSON.stringify([
  { type: 'heartbeat', timestamp: 1_760_000_000, text: 'x'.repeat(200) },
]);

async function post(client: SpareClient, bytes: Buffer, patienceMs: number) {
  const startedMs = performance.now();
  const { status, head } = await client.send(bytes);
  const tookMs = performance.now() - startedMs;
  const wait = /^retry-after: (\S+)/im.exec(head)?.[1];
  return { outcome: status === 202 && tookMs > patienceMs ? 'late' : String(status), wait, tookMs };
}

/**
 * Sends batches of one event at a fixed rate, then waits for the last answers. Goodput counts the
 * answers in time.
 */
export async function offerLoad(
  url: string,
  aim: Aim,
  { perSecond, warmUpSeconds, seconds, patienceMs }: Offer,
): Promise<Offered> {
  const client = new SpareClient(url);
  const bytes = spareRequest('POST', `/devices/${aim.screenId}/events`, { ...aim, body });
  const offered: Offered = { perSecond, goodput: 0, counts: {}, waits: new Set(), goodMs: [] };
  const startedMs = performance.now();
  const [warmMs, endMs] = [
    startedMs + warmUpSeconds * 1000,
    startedMs + (warmUpSeconds + seconds) * 1000,
  ];
  let good = 0;
  const settle = async () => {
    const { outcome, wait, tookMs } = await post(client, bytes, patienceMs).catch(noAnswer);
    offered.counts[outcome] = (offered.counts[outcome] ?? 0) + 1;
    if (outcome === '503') offered.waits.add(wait ?? 'none');
    if (outcome !== '202') return;
    offered.goodMs.push(tookMs);
    if (performance.now() >= warmMs && performance.now() <= endMs) good++;
  };
  const under: Promise<void>[] = [];
  while (performance.now() < endMs) {
    const due = Math.min(performance.now() - startedMs, endMs - startedMs) * (perSecond / 1000);
    while (under.length < due) under.push(settle());
    await new Promise((resolve) => setTimeout(resolve, sliceMs));
  }
  await Promise.all(under);
  client.close();
  offered.goodput = good / seconds;
  return offered;
}

const noAnswer = () => ({ outcome: 'no answer', wait: undefined, tookMs: 0 });
