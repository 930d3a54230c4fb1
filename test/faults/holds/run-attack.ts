import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startProgram } from '../../support/program.ts';

/** The TV whose key an attacker has, with the cursor of its changes. */
export interface Aim {
  url: string;
  screenId: string;
  key: string;
  cursor: string;
}

export type HonestTv = Pick<Aim, 'url' | 'screenId' | 'key'>;

export const attacks = [
  'a revoked key',
  'half of a request',
  'unread answers',
  'a cursor of 1 MB',
] as const;
export type Attack = (typeof attacks)[number];

/** Times and statuses of playlist requests of an honest TV. */
export interface Honest {
  p99Ms: number;
  statuses: Record<string, number>;
}

/** Asks for the playlist of an honest TV, some 100 times a second. */
export async function askHonestly(
  { url, screenId, key }: HonestTv,
  seconds: number,
): Promise<Honest> {
  const dispatcher = new Agent({ connections: 1 });
  const statuses: Record<string, number> = {};
  const tookMs: number[] = [];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const { statusCode, body } = await request(`${url}/devices/${screenId}/playlist`, {
      headers: { authorization: `Bearer ${key}` },
      dispatcher,
    });
    await body.dump();
    tookMs.push(performance.now() - startMs);
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
    await sleep(10);
  }
  await dispatcher.close();
  const sorted = tookMs.toSorted((one, other) => one - other);
  return { p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN, statuses };
}

/** The honest TV during an attack, and the statuses that the attacker got. */
export interface Attacked {
  honest: Honest;
  statuses: Record<string, number>;
}

/** Runs an attack for some seconds beside an honest TV. */
export async function runAttack(
  attack: Attack,
  { aim, connections, seconds }: { aim: Aim; connections: number; seconds: number },
  honestTv: HonestTv,
): Promise<Attacked> {
  const attackers = await startProgram(new URL('attackers.js', import.meta.url));
  await attackers.ask({ attack, connections, ...aim });
  const honest = await askHonestly(honestTv, seconds);
  const { statuses } = await attackers.ask<{ statuses: Record<string, number> }>({});
  await attackers.stop();
  return { honest, statuses };
}
