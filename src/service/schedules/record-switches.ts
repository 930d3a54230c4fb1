import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { Tx } from '../../store/store.ts';
import type { SystemDependencies } from '../context.ts';
import { nextNumber } from '../playlists/versions.ts';
import { type DeliveredVersion, recordedVersion } from './delivered.ts';
import { emptyLayers, readLayers } from './layers.ts';
import type { Planner } from './plan.ts';
import { loadPlanner, planWith } from './plan-of-screen.ts';

const writeTimeoutMs = 2000;
/**
 * Maximum number of switches in a change of the store. Thousands of screens may switch at one
 * moment, and other requests must get their turn in between.
 */
const maxBatch = 20;

interface Waiting {
  screen: Screen;
  promise: Promise<DeliveredVersion | undefined>;
  resolve(version: DeliveredVersion | undefined): void;
  reject(error: unknown): void;
}

/**
 * Returns a function that records the switch that is due on a screen, unless another instance has.
 * It returns the version, or `undefined` if the screen was deleted. Calls for the same screen share
 * one record. Rejects while the store cannot record it.
 */
export function makeSwitchRecorder(deps: SystemDependencies) {
  const { store, clock } = deps;
  const waiting = new Map<string, Waiting>();
  const recording = new Map<string, Waiting>();
  let isRunning = false;

  async function record(
    planner: Planner,
    tx: Tx,
    screen: Screen,
  ): Promise<DeliveredVersion | undefined> {
    if (!(await tx.get('screens', screen.id))) return undefined;
    const [layers, row] = await Promise.all([
      readLayers(tx, screen),
      tx.get('playlists', screen.id),
    ]);
    const base = row && playlistStatusAt(row, tx.now) === 'active' ? row : undefined;
    const { spans } = await planWith(planner, tx, screen, { layers, base, nowMs: tx.now });
    const { playable } = spans[0];
    const known = recordedVersion(playable, base, layers.own);
    if (known) return known;
    const { version, playlistId = deps.newId() } = nextNumber(row, layers.own);
    const { entryId = null, contentId = null } = playable ?? {};
    const delivered = { playlistId, version, entryId, contentId, at: tx.stamp };
    await tx.put('layers', { ...(layers.own ?? emptyLayers('screen', screen)), delivered });
    return { playlistId, version, publishedAt: tx.stamp };
  }

  async function recordAll(batch: readonly Waiting[]): Promise<void> {
    try {
      const planner = await loadPlanner();
      // At once, so that a database gets few statements.
      const write = store.write((tx) =>
        Promise.all(batch.map(({ screen }) => record(planner, tx, screen))),
      );
      const versions = await withTimeout(clock, writeTimeoutMs, write);
      for (const [place, { resolve }] of batch.entries()) resolve(versions[place]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, maxBatch);
      for (const one of batch) {
        waiting.delete(one.screen.id);
        recording.set(one.screen.id, one);
      }
      await recordAll(batch);
      recording.clear();
    }
    isRunning = false;
  }

  return (screen: Screen): Promise<DeliveredVersion | undefined> => {
    const known = recording.get(screen.id) ?? waiting.get(screen.id);
    if (known) return known.promise;
    const { promise, resolve, reject } = withResolvers<DeliveredVersion | undefined>();
    waiting.set(screen.id, { screen, promise, resolve, reject });
    if (!isRunning) void run();
    return promise;
  };
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
