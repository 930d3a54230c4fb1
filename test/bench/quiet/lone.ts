import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { median } from '../measure.ts';

/** A TV as its registration returns it. */
export interface LoneTv {
  screenId: string;
  deviceId: string;
  apiKey: string;
}

/** A server, its TVs, and the CPU that it has used. */
export interface Entrant {
  name: string;
  url: string;
  tvs: readonly LoneTv[];
  cpuMs(): Promise<number>;
}

/** Each TV keeps a connection of its own. */
const agents = new Map<string, Agent>();

function agentOf(url: string, { screenId }: LoneTv): Agent {
  const name = `${url} ${screenId}`;
  const agent = agents.get(name) ?? new Agent({ connections: 1, keepAliveTimeout: 600_000 });
  agents.set(name, agent);
  return agent;
}

export async function closeConnections(): Promise<void> {
  await Promise.all(Array.from(agents.values(), (agent) => agent.destroy()));
  agents.clear();
}

/** One batch of the TV of this number, with one event. */
export async function sendHeartbeat({ url, tvs }: Entrant, n: number): Promise<void> {
  const tv = tvs[n % tvs.length] as LoneTv;
  const timestamp = Math.floor(Date.now() / 1000);
  const state = { uptimeSeconds: 4711 + n, freeStorageMB: 8123, playlistVersion: 3 };
  const { statusCode, body } = await request(`${url}/devices/${tv.screenId}/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tv.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify([{ type: 'heartbeat', timestamp, ...state }]),
    dispatcher: agentOf(url, tv),
  });
  await body.dump();
  if (statusCode !== 202) throw new Error(`${url} answered ${statusCode}`);
}

/** A GET of the TV of this number, such as of its `playlist`. */
export async function getAsTv({ url, tvs }: Entrant, n: number, resource: string): Promise<void> {
  const tv = tvs[n % tvs.length] as LoneTv;
  const { statusCode, body } = await request(`${url}/devices/${tv.screenId}/${resource}`, {
    headers: { authorization: `Bearer ${tv.apiKey}` },
    dispatcher: agentOf(url, tv),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
}

/** Calls the service without a schema, because another version may have other members. */
export async function call<T>(
  url: string,
  path: string,
  key: string,
  body?: object,
  method: 'GET' | 'POST' | 'PUT' = body === undefined ? 'GET' : 'POST',
): Promise<T> {
  const reply = await request(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  if (reply.statusCode >= 300) throw new Error(`${path} answered ${reply.statusCode}: ${text}`);
  return JSON.parse(text) as T;
}

/** Pairs a TV: a code, the key for it, and the first fetch. */
export async function pair(url: string, token: string, screenId: string): Promise<LoneTv> {
  const codes = '/v1/devices/provisioning-codes';
  const { code } = await call<{ code: string }>(url, codes, token, { screenId });
  const body = { pairingCode: code, deviceInfo: { model: 'Benchmark' } };
  const tv = await call<LoneTv>(url, '/devices/register', token, body);
  await call(url, `/devices/${screenId}/config`, tv.apiKey);
  return tv;
}

export interface Pace {
  perSecond: number;
  slices: number;
  sliceSeconds: number;
}

/**
 * Does a piece of work at each entrant in turn, so that all of them meet the same neighbours.
 * Returns the CPU of a piece in microseconds: a row for each slice, after a first one that does not
 * count.
 */
export async function inTurn(
  entrants: readonly Entrant[],
  { perSecond, slices, sliceSeconds }: Pace,
  work: (entrant: Entrant, n: number) => Promise<unknown>,
): Promise<number[][]> {
  const rows: number[][] = [];
  const usage = () => Promise.all(entrants.map((one) => one.cpuMs()));
  const count = perSecond * sliceSeconds;
  const stepMs = 1000 / perSecond / entrants.length;
  for (let slice = 0; slice <= slices; slice++) {
    const before = await usage();
    const startMs = performance.now();
    const pending: Promise<unknown>[] = [];
    for (let step = 0; step < count * entrants.length; step++) {
      const dueMs = startMs + step * stepMs - performance.now();
      if (dueMs > 0) await sleep(dueMs);
      const n = slice * count + Math.floor(step / entrants.length);
      pending.push(work(entrants[step % entrants.length] as Entrant, n));
    }
    await Promise.all(pending);
    const after = await usage();
    const row = after.map((ms, at) => ((ms - (before[at] as number)) * 1000) / count);
    if (slice > 0) rows.push(row);
  }
  return rows;
}

/** Prints medians, and the ratio of the first entrant to each other one with its 90 % interval. */
export function printRatios(
  title: string,
  entrants: readonly Pick<Entrant, 'name'>[],
  rows: readonly (readonly number[])[],
  unit = 'µs',
): void {
  const of = (at: number) => rows.map((row) => row[at] as number);
  const [first, ...others] = entrants.map(({ name }, at) => ({ name, values: of(at) }));
  const shown = (value: number) => value.toFixed(value < 20 ? 1 : 0);
  for (const { name, values } of others) {
    const ratios = values
      .map((value, n) => (first?.values[n] as number) / value)
      .toSorted((one, other) => one - other);
    const [low, high] = [0.05, 0.95].map((part) => ratios[Math.round(part * (ratios.length - 1))]);
    console.log(
      `${title}: ${shown(median(first?.values ?? []))} ${unit}, ${name} ${shown(median(values))} ${unit}, ` +
        `ratio ${median(ratios).toFixed(2)} (${low?.toFixed(2)}–${high?.toFixed(2)})`,
    );
  }
}
