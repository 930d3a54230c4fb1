import { isDeepStrictEqual } from 'node:util';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { withTimeout } from '../../domain/timeout.ts';
import type { Tx } from '../../store/store.ts';
import type { SystemDependencies } from '../context.ts';
import { nextNumber } from '../versions/versions.ts';
import type { DeliveredVersion } from './delivered.ts';
import { emptyLayers, readLayers } from './layers.ts';
import type { PlanBasis, Playable } from './plan.ts';

const writeTimeoutMs = 2000;
/**
 * Maximum number of switches in a change of the store. Thousands of screens may switch at one
 * moment, and other requests must get their turn in between. Changes of several instances wait for
 * each other in a database, so that few large ones take less time than many small ones.
 */
const maxBatch = 50;

/** A switch to what is due on a screen, and the rows of its plan. */
interface DueSwitch extends PlanBasis {
  screen: Screen;
  playable: Playable | undefined;
}

/**
 * The version of a switch: `undefined` if the screen was deleted. Or the rows, if they have changed
 * since the plan was made. Nothing is recorded then.
 */
export type RecordedSwitch = { version: DeliveredVersion | undefined } | { changed: PlanBasis };

interface WaitingSwitch {
  due: DueSwitch;
  promise: Promise<RecordedSwitch>;
  resolve(recorded: RecordedSwitch): void;
  reject(error: unknown): void;
}

/**
 * Returns a function that records the switch that is due on a screen. Calls for the same switch
 * share one record. Rejects while the store cannot record it.
 */
export function makeSwitchRecorder(deps: SystemDependencies) {
  const { store, clock } = deps;
  const waiting = new Map<string, WaitingSwitch>();
  const recording = new Map<string, WaitingSwitch>();
  let isRunning = false;

  async function record(
    tx: Tx,
    { screen, playable, ...planned }: DueSwitch,
  ): Promise<RecordedSwitch> {
    const [present, layers, row] = await Promise.all([
      tx.get('screens', screen.id),
      readLayers(tx, screen),
      tx.get('playlists', screen.id),
    ]);
    if (!present) return { version: undefined };
    const base = row && playlistStatusAt(row, tx.now) === 'active' ? row : undefined;
    if (base?.version !== planned.base?.version || !isDeepStrictEqual(layers, planned.layers))
      return { changed: { layers, base } };
    const { version, playlistId = deps.newId() } = nextNumber(row, layers.own);
    const { entryId = null, contentId = null } = playable ?? {};
    const delivered = { playlistId, version, entryId, contentId, at: tx.stamp };
    await tx.put('layers', { ...(layers.own ?? emptyLayers('screen', screen)), delivered });
    return { version: { playlistId, version, publishedAt: tx.stamp } };
  }

  async function recordAll(batch: readonly WaitingSwitch[]): Promise<void> {
    try {
      // At once, so that a database gets few statements.
      const write = store.write((tx) => Promise.all(batch.map(({ due }) => record(tx, due))));
      const recorded = await withTimeout(clock, writeTimeoutMs, write);
      for (const [place, { resolve }] of batch.entries())
        resolve(recorded[place] as RecordedSwitch);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, maxBatch);
      for (const one of batch) {
        waiting.delete(one.due.screen.id);
        recording.set(one.due.screen.id, one);
      }
      await recordAll(batch);
      recording.clear();
    }
    isRunning = false;
  }

  return async function recordDue(due: DueSwitch): Promise<RecordedSwitch> {
    const { id } = due.screen;
    const known = recording.get(id) ?? waiting.get(id);
    if (known && isDeepStrictEqual(known.due.playable, due.playable)) return known.promise;
    if (known) {
      // Around the moment of a switch, another request may have planned what was due before.
      await known.promise;
      return recordDue(due);
    }
    const { promise, resolve, reject } = withResolvers<RecordedSwitch>();
    waiting.set(id, { due, promise, resolve, reject });
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
