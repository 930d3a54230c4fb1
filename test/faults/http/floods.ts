import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unitOptions } from '../../support/node-options.ts';
import { startProgram } from '../../support/program.ts';
import type { Aim } from './attack.ts';

/** Floods that need no credential. */
export const floods = [
  'readyz',
  'unknown token',
  'malformed token',
  'unknown device key',
  'registration',
] as const;
export type Flood = (typeof floods)[number];

/** Measurements of a TV, alone or beside a flood. */
export interface Met {
  p50Ms: number;
  p99Ms: number;
  /**
   * Responses of the flood that came before the TV's own. Unlike times, they do not depend on other
   * programs.
   */
  ahead: number;
  /** Error responses to the TV, and responses to the flood, by status. */
  wrong: Record<string, number>;
  statuses: Record<string, number>;
}

const load = { floodPerSecond: 4_000, tvPerSecond: 50, seconds: 3 };
/** The service and the load have a core each. */
export const serviceCore = 0;
const loadCore = 1;

const at = (values: number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ??
  Number.POSITIVE_INFINITY;

/** Runs a TV for some seconds, with or without a flood. */
export async function meet(
  url: string,
  aim: Pick<Aim, 'screenId' | 'key'>,
  flood?: Flood,
): Promise<Met> {
  const script = fileURLToPath(new URL('flood-load.js', import.meta.url));
  const options = JSON.stringify({ url, aim, flood, ...load });
  const { stdout } = await promisify(execFile)('taskset', [
    '-c',
    String(loadCore),
    process.execPath,
    script,
    options,
  ]);
  const { tookMs, ahead, wrong, statuses } = JSON.parse(stdout) as Record<
    'tookMs' | 'ahead',
    number[]
  > &
    Pick<Met, 'wrong' | 'statuses'>;
  return {
    p50Ms: at(tookMs, 0.5),
    p99Ms: at(tookMs, 0.99),
    ahead: at(ahead, 0.5),
    wrong,
    statuses,
  };
}

/** Starts a server that answers at once. */
export async function startBare(): Promise<{ url: string; stop(): Promise<void> }> {
  const script = new URL('bare-server.js', import.meta.url);
  const { first, stop } = await startProgram<{ url: string }>(script, [], {
    core: serviceCore,
    nodeOptions: unitOptions,
  });
  return { url: first.url, stop };
}
