import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from '../../support/process/program.ts';
import type { Aim } from './attack.ts';
import { SpareClient, spareRequest } from './spare-client.ts';

/** The connections of an attack. */
export const holdAttacks = [
  'a revoked key',
  'half of a request',
  'unread answers',
  'a cursor of 1 MB',
] as const;
/** Floods that need no credential. */
export const floods = [
  'readyz',
  'unknown token',
  'malformed token',
  'unknown device key',
  'registration',
] as const;

interface Attack {
  attack: (typeof holdAttacks)[number] | (typeof floods)[number] | 'slow requests';
  url: string;
  screenId: string;
  key: string;
  /** The cursor of the changes of the TV with this key. */
  cursor?: string;
  connections: number;
  /** Connections opened, or requests of a flood, in each second. */
  perSecond: number;
}

/** What attackers met. */
export interface Met {
  statuses: Record<string, number>;
  /** Open connections, and how many were cut off. Connection errors by code. */
  connected: number;
  cutOff: number;
  failures: Record<string, number>;
}

/** Starts attackers in a process, on this core if given. */
export async function startAttack(attack: Attack, core?: number) {
  const script = new URL('attackers.js', import.meta.url);
  const attackers = await startProgram(script, [], core === undefined ? {} : { core });
  await attackers.ask(attack);
  return { met: () => attackers.ask<Met>({}), stop: () => attackers.stop() };
}

/** The answers to an honest TV. Times are in milliseconds. */
export interface Honest {
  tookMs: number[];
  statuses: Record<string, number>;
  /** `endMs`: since the first request. */
  answers: { status: string; tookMs: number; endMs: number }[];
  /** Distinct values of `Retry-After` of 503. */
  waits: Set<string>;
}

type Kind = 'playlist' | 'config' | 'events';
const events = JSON.stringify([{ type: 'heartbeat', timestamp: 1_760_000_000 }]);

interface Load {
  kinds: readonly [Kind, ...Kind[]];
  perSecond: number;
  seconds: number;
  /** Waits so long before the first request. Default: 0. */
  delaySeconds?: number;
}

/** Sends requests of an honest TV at a fixed rate, of these kinds in turn. */
export async function askHonestly(
  { url, screenId, key }: Pick<Aim, 'screenId' | 'key'> & { url: string },
  { kinds, perSecond, seconds, delaySeconds = 0 }: Load,
): Promise<Honest> {
  const client = new SpareClient(url);
  const { host } = new URL(url);
  const bytes = kinds.map((kind) => {
    const isPost = kind === 'events';
    const parts = { host, key, ...(isPost && { body: events }) };
    return spareRequest(isPost ? 'POST' : 'GET', `/devices/${screenId}/${kind}`, parts);
  });
  const honest: Honest = { tookMs: [], statuses: {}, answers: [], waits: new Set() };
  await sleep(delaySeconds * 1000);
  const startedMs = performance.now();
  const ask = async (request: Buffer) => {
    const sentMs = performance.now();
    const none = { status: 'no answer', head: '' };
    const answer = await client.send(request).catch(() => none);
    const status = String(answer.status);
    const endMs = performance.now();
    const tookMs = endMs - sentMs;
    honest.tookMs.push(tookMs);
    honest.statuses[status] = (honest.statuses[status] ?? 0) + 1;
    honest.answers.push({ status, tookMs, endMs: endMs - startedMs });
    if (status === '503')
      honest.waits.add(/^retry-after: (\S+)/im.exec(answer.head)?.[1] ?? 'none');
  };
  const asked: Promise<void>[] = [];
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const dueMs = startedMs + (sent * 1000) / perSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    asked.push(ask(bytes[sent % bytes.length] as Buffer));
  }
  await Promise.all(asked);
  client.close();
  return honest;
}

/** Returns the value below which this share of the values lies. */
export const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ??
  Number.NaN;
