import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Aim } from './attack.ts';
import type { Served } from './served.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

export interface SlowRound {
  /** Latencies of honest TVs in milliseconds, without slow clients and with them. */
  without: number[];
  beside: number[];
  /** The lowest number of connected slow clients. Some are always reconnecting. */
  connected: number;
  /** Slow clients that were cut off, and connection errors by code. */
  cutOff: number;
  failures: Record<string, number>;
  /** Wrong answers to honest TVs. */
  wrong: number;
}

/** Runs honest TVs for some seconds: playlists, configs and batches at a fixed rate. */
async function honest(
  url: string,
  aim: Aim,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  round: SlowRound,
): Promise<number[]> {
  const client = new SpareClient(url);
  const path = `/devices/${aim.screenId}`;
  const body = JSON.stringify([{ type: 'heartbeat', timestamp: 1_760_000_000 }]);
  const kinds: [Buffer, number][] = [
    [spareRequest('GET', `${path}/config`, aim), 200],
    [spareRequest('POST', `${path}/events`, { ...aim, body }), 202],
  ];
  const tookMs: number[] = [];
  const under: Promise<void>[] = [];
  const ask = async ([bytes, expected]: [Buffer, number]) => {
    const startedMs = performance.now();
    const { status } = await client.send(bytes).catch(() => ({ status: 0 }));
    if (status !== expected) round.wrong++;
    tookMs.push(performance.now() - startedMs);
  };
  const startedMs = performance.now();
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const dueMs = startedMs + (sent * 1000) / perSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    under.push(ask(kinds[sent % kinds.length] as [Buffer, number]));
  }
  await Promise.all(under);
  client.close();
  return tookMs;
}

/** Report of the process with the slow clients. */
type SlowReport = Pick<SlowRound, 'connected' | 'cutOff' | 'failures'>;

/** Runs `work` beside slow clients in another process. */
async function besideSlow(
  url: string,
  count: number,
  round: SlowRound,
  work: () => Promise<number[]>,
): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const child = fork(
    fileURLToPath(new URL('slow-sockets.js', import.meta.url)),
    [hostname, port, String(count)],
    { execArgv: [] },
  );
  let report: SlowReport = { connected: 0, cutOff: 0, failures: {} };
  child.on('message', (message: SlowReport) => {
    report = message;
    round.connected = Math.min(round.connected, message.connected);
  });
  const ended = once(child, 'exit');
  for (let attempt = 0; report.connected < 0.98 * count && attempt < 600; attempt++)
    await sleep(100);
  round.connected = report.connected;
  const before = report.cutOff;
  const tookMs = await work();
  round.cutOff = report.cutOff - before;
  round.failures = report.failures;
  child.disconnect();
  await ended;
  return tookMs;
}

/** Waits until the service has closed the remaining connections. */
async function waitUntilIdle(served: Pick<Served, 'usage'>): Promise<void> {
  for (let attempt = 0; attempt < 100 && (await served.usage()).open.length > 100; attempt++)
    await sleep(100);
  await sleep(1_000);
}

/** Measures honest TVs alone, then beside slow clients. */
export async function slowRound(
  served: Served,
  count: number,
  load: { perSecond: number; seconds: number },
): Promise<SlowRound> {
  const { url, aim } = served;
  const round: SlowRound = {
    without: [],
    beside: [],
    connected: 0,
    cutOff: 0,
    failures: {},
    wrong: 0,
  };
  round.without = await honest(url, aim, load, round);
  round.beside = await besideSlow(url, count, round, () => honest(url, aim, load, round));
  await waitUntilIdle(served);
  return round;
}

export const p99 = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * 0.99)] ?? 0;
