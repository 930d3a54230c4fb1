import { type Program, startProgram } from '../../support/process/program.ts';
import { median, summary } from '../measure.ts';

const loadCore = 1;
/** Fresh processes of each server, because V8 may optimize the same code differently. */
const starts = 3;
/** Many short rounds: the servers alternate, so that other programs disturb all alike. */
const rounds = 9;
const roundMs = 250;
const warmUp = { count: 5000, ms: 8000 };

/** The kind of request that a round sends. `tvs`: the number of TVs of the list that take turns. */
export interface RequestKind {
  resource: 'playlist' | 'config' | 'events';
  status: number;
  tvs: number;
  isConditional?: boolean;
  isNewConnection?: boolean;
}

/** A server with the requests that it gets. Default name: that of the server. */
interface Entrant {
  server: string;
  request: RequestKind;
  name?: string;
}

/** Compares the first entrant with each other one. */
export interface Comparison {
  name: string;
  entrant: Entrant;
  /** `bar`: the least acceptable ratio of the CPU of the other to the CPU of the entrant. */
  others: readonly (Entrant & { bar?: number })[];
}

export type Server = Program & { first: { url: string } };

type CpuRounds = Map<Entrant, number[]>;

async function measureRound(
  load: Program,
  server: Server,
  request: RequestKind,
  length: { ms: number; count?: number },
): Promise<number> {
  const cpuMs = async () => (await server.ask<{ cpuMs: number }>('usage')).cpuMs;
  const before = await cpuMs();
  const port = Number(new URL(server.first.url).port);
  const done = await load.ask<{ count: number; error?: string }>({ port, request, ...length });
  if (done.error !== undefined) throw new Error(done.error);
  return (((await cpuMs()) - before) * 1000) / done.count;
}

function verdict(ratio: number, bar: number | undefined): string {
  if (bar === undefined) return '–';
  return ratio >= bar ? 'met' : 'MISSED';
}

function reportComparison({ name, entrant, others }: Comparison, results: CpuRounds): void {
  const cpuUs = (one: Entrant) => results.get(one) as number[];
  for (const other of others) {
    const ratios = cpuUs(entrant).map((us, round) => (cpuUs(other)[round] as number) / us);
    const cpus = [entrant, other].map(
      (one) => `${one.name ?? one.server} ${median(cpuUs(one)).toFixed(1)} µs`,
    );
    const cells = [name, ...cpus, summary(ratios, 2), other.bar?.toFixed(2) ?? '–'];
    console.log(`| ${[...cells, verdict(median(ratios), other.bar)].join(' | ')} |`);
  }
}

/** Measures the CPU time of each request, as the operating system counts it, and prints a table. */
export async function compare(
  comparisons: readonly Comparison[],
  servers: Readonly<Record<string, () => Promise<Server>>>,
  loadFiles: readonly string[],
): Promise<void> {
  const results: CpuRounds = new Map();
  const load = await startProgram(new URL('load.js', import.meta.url), loadFiles, {
    core: loadCore,
  });
  for (let start = 0; start < starts; start++) {
    const running = new Map<string, Server>();
    for (const [name, begin] of Object.entries(servers)) running.set(name, await begin());
    const measure = ({ server, request }: Entrant, length: { ms: number; count?: number }) =>
      measureRound(load, running.get(server) as Server, request, length);
    for (const { entrant, others } of comparisons) {
      const entrants = [entrant, ...others];
      for (const one of entrants) await measure(one, warmUp);
      for (let round = 0; round < rounds; round++) {
        for (const one of entrants) {
          const cpuUs = await measure(one, { ms: roundMs });
          results.set(one, [...(results.get(one) ?? []), cpuUs]);
        }
      }
    }
    for (const server of running.values()) await server.stop();
  }
  await load.stop();
  console.log('| Request | CPU | CPU of the other | Other / this | Bar | |');
  console.log('|---|---|---|---|---|---|');
  for (const comparison of comparisons) reportComparison(comparison, results);
}
