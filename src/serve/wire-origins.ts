import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, type Random, secondMs } from '../domain/clock.ts';
import { makeIdSource } from '../domain/id.ts';
import type { LogSink } from '../domain/log.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { makeOrigins } from '../origin/chain/origins.ts';
import { makeConfigCopies } from '../origin/object-store/config-copies.ts';
import type { ObjectStore } from '../origin/object-store/object-store.ts';
import { openObjectStore } from '../origin/object-store/open-object-store.ts';
import {
  makeObjectStoreOrigin,
  makePlaylistCopies,
} from '../origin/object-store/playlist-copies.ts';
import { type OpenOnDemandSource, openOnDemand } from '../origin/on-demand/open.ts';
import { makeMirror } from '../service/mirror/mirror.ts';
import type { ObservedStore } from '../service/observed-store.ts';
import { makeOnDemandVersions } from '../service/playlists/on-demand-versions.ts';
import { makeServedVersions } from '../service/playlists/served-versions.ts';
import type { ServeOptions } from './serve-options.ts';
import type { ShutdownSteps } from './shutdown.ts';

/** Opens the on-demand source, if the options name one. */
export async function onDemandOf(
  options: ServeOptions,
  clock: Clock,
  log: LogSink,
): Promise<OpenOnDemandSource | undefined> {
  const { onDemand, onDemandToken: token } = options;
  const playlists = typeof onDemand === 'function' ? onDemand : undefined;
  const url = typeof onDemand === 'string' ? onDemand : undefined;
  const ttlMs = (options.onDemandTtlSeconds ?? 10) * secondMs;
  const timeoutMs = options.onDemandTimeoutMs ?? 2000;
  const concurrency = options.onDemandConcurrency ?? 20;
  return openOnDemand({ playlists, url, token, ttlMs, timeoutMs, concurrency }, clock, log);
}

/** An object store, and the function that closes it if `serve` opened it. */
export interface OpenObjectStore {
  objectStore: ObjectStore;
  close(): Promise<void>;
}

/**
 * Opens the object store for copies of playlists and configs. Returns `undefined` if none is
 * configured.
 *
 * @param folder the data folder. `undefined`: the store is not a folder
 */
export async function objectStoreOf(
  { objectStore, aws = {} }: ServeOptions,
  folder: string | undefined,
  clock: Clock,
): Promise<OpenObjectStore | undefined> {
  if (typeof objectStore === 'object') return { objectStore, close: async () => {} };
  const mirror = folder === undefined ? undefined : pathToFileURL(resolve(folder, 'mirror')).href;
  const url = objectStore ?? mirror ?? 'none';
  if (url === 'none') return undefined;
  const opened = await openObjectStore(url, aws, clock);
  return { objectStore: opened, close: () => opened.close() };
}

interface PlaylistSources {
  /** Whether the rows of the store are in the memory of this process. */
  isInMemory: boolean;
  onDemand: OpenOnDemandSource | undefined;
  mirrored: OpenObjectStore | undefined;
  /** Whether configs are copied, too. */
  hasConfigCopies: boolean;
}

interface WiringDependencies {
  clock: Clock;
  random: Random;
  log: LogSink;
  metrics: Metrics;
  stops: ShutdownSteps;
}

/** Connects the store to the origins of playlists and to the mirror. */
export function wireOrigins(
  observed: ObservedStore,
  { isInMemory, onDemand, mirrored, hasConfigCopies }: PlaylistSources,
  { clock, random, log, metrics, stops }: WiringDependencies,
) {
  const { store } = observed;
  const objectStore = mirrored?.objectStore;
  const copies = objectStore && makePlaylistCopies(objectStore, clock);
  const configCopies =
    objectStore && hasConfigCopies ? makeConfigCopies(objectStore, clock) : undefined;
  const mirror =
    copies &&
    makeMirror({
      ...observed,
      isShared: !isInMemory,
      copies,
      configCopies,
      clock,
      random,
      log,
    });
  if (mirrored) stops.push(mirrored.close);
  if (mirror) {
    stops.push(mirror.stop);
    metrics.watchMirror(mirror.lag, () => clock.now());
  }
  if (onDemand) stops.push(onDemand.close);
  const served = makeServedVersions(store, clock);
  const deps = { store, clock, random, newId: makeIdSource(clock, random) };
  const origins = makeOrigins({
    clock,
    log,
    reader: store.read,
    isInMemory,
    notOlder: served.notOlder,
    objectStore: copies && makeObjectStoreOrigin(copies, clock),
    onDemand: onDemand && {
      ...onDemand,
      versions: (source, read) => makeOnDemandVersions(deps, { source, read, served }),
    },
  });
  metrics.watchOrigins(origins.health);
  return { store, served, origins, mirror, configCopies };
}
