import type { Program } from './program.ts';

/** A server that takes part. */
export interface Contestant extends Program {
  name: string;
  port: number;
}

/** What is asked of all of them. */
export interface Discipline {
  name: string;
  /** Whole requests, as bytes in Latin-1; the port stands in none of them. */
  requests: readonly string[];
  /** The status that every answer must have. */
  status: number;
  connections: number;
}

interface Round {
  perSecond: number;
  /** Of the server, for one request. */
  cpuUs: number;
}

export type Results = Map<Contestant, Round[]>;

const cpuOf = async (server: Program) => (await server.ask<{ cpuMs: number }>('fared?')).cpuMs;

/** How long a round lasts; one of a `count` is over when that is reached, or at the latest then. */
interface Length {
  ms: number;
  count?: number;
}

async function round(
  load: Program,
  server: Contestant,
  discipline: Discipline,
  length: Length,
): Promise<Round> {
  const { name, requests, status, connections } = discipline;
  const before = await cpuOf(server);
  const done = await load.ask<{ counts: Record<string, number>; ms: number; error?: string }>({
    ...{ port: server.port, requests, connections, ...length },
  });
  const cpuMs = (await cpuOf(server)) - before;
  const { [status]: count = 0, ...others } = done.counts ?? {};
  if (done.error !== undefined || Object.keys(others).length > 0 || count === 0) {
    throw new Error(`${name}, ${server.name}: ${done.error ?? JSON.stringify(done.counts)}`);
  }
  return { perSecond: (count / done.ms) * 1000, cpuUs: (cpuMs * 1000) / count };
}

/**
 * Each in turn, round after round, so that a busy moment of the machine hits all alike; before
 * that, each is warmed up by so many requests.
 */
export async function compete(
  load: Program,
  servers: readonly Contestant[],
  discipline: Discipline,
  { rounds, ms, warmUp }: { rounds: number; ms: number; warmUp: Length },
): Promise<Results> {
  const results: Results = new Map(servers.map((server) => [server, []]));
  for (const server of servers) await round(load, server, discipline, warmUp);
  for (let n = 0; n < rounds; n++)
    for (const [server, done] of results) done.push(await round(load, server, discipline, { ms }));
  return results;
}

/** The lowest, the middle and the highest. */
export function spread(values: readonly number[]): { low: number; median: number; high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] as number;
  return { low: at(0), median: at(0.5), high: at(1) };
}

const shown = (values: readonly number[], digits: number) => {
  const { low, median, high } = spread(values);
  return `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
};

/** How one fares beside another, round by round: above 1 is better. */
function ratios(
  results: Results,
  one: Contestant,
  other: Contestant,
): { rate: number[]; cpu: number[] } {
  const [ours, theirs] = [results.get(one) as Round[], results.get(other) as Round[]];
  return {
    rate: ours.map(({ perSecond }, n) => perSecond / (theirs[n] as Round).perSecond),
    cpu: ours.map(({ cpuUs }, n) => (theirs[n] as Round).cpuUs / cpuUs),
  };
}

/** A line for one beside another. */
export function compare(
  discipline: Discipline,
  results: Results,
  one: Contestant,
  other: Contestant,
): void {
  const { rate, cpu } = ratios(results, one, other);
  console.log(
    `${discipline.name} | ${one.name} of ${other.name}: rate ${shown(rate, 2)}, CPU ${shown(cpu, 2)}`,
  );
}

/** A line for each, beside `baseline`. */
export function report(discipline: Discipline, results: Results, baseline: Contestant): void {
  for (const [server, rounds] of results) {
    const { rate, cpu } = ratios(results, server, baseline);
    const figures = [
      `${shown(
        rounds.map(({ perSecond }) => perSecond),
        0,
      )}/s`,
      `${shown(
        rounds.map(({ cpuUs }) => cpuUs),
        1,
      )} µs CPU`,
    ];
    console.log(
      `${discipline.name} | ${server.name} | ${figures.join(' | ')} | of ${baseline.name}: rate ${shown(rate, 2)}, CPU ${shown(cpu, 2)}`,
    );
  }
}
