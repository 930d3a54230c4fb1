import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import { coalesced } from '../../domain/concurrency.ts';
import { SignageError } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { ConfigCopies, PlaylistCopies } from '../../origin/origin.ts';
import type { ListQuery } from '../../store/queries.ts';
import { type Reader, slicesOf } from '../../store/store.ts';
import type { ObservedStore, RowChange } from '../observed-store.ts';
import { CopyQueue, type QueuedCopy } from './copy-queue.ts';
import { syncConfig, syncScreen } from './sync.ts';

/** Time after which an instance copies a change that another instance has made. */
const takeOverMs = 30 * secondMs;
const pageSize = 100;
/** Pause of the check after a full page. A page takes about 15 ms of CPU, so 1 % of a core. */
const checkPauseMs = 1500;

export interface MirrorOptions extends ObservedStore {
  /** Whether other instances may change the store. */
  isShared: boolean;
  copies: PlaylistCopies;
  /** `undefined`: configs are not copied. */
  configCopies: ConfigCopies | undefined;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/** Backlog of the mirror. */
export interface MirrorLag {
  pending: number;
  /**
   * Time at which the oldest copy was queued, in epoch milliseconds. `undefined` if no copy is
   * queued.
   */
  oldestMs: number | undefined;
  /** Number of failed attempts since the start. */
  failures: number;
  /** Whether any copy has failed and not succeeded since. */
  isFailing: boolean;
}

export interface Mirror {
  readonly copies: PlaylistCopies;
  /** Begins to compare all copies with the store, about 67 screens a second. */
  start(): void;
  lag(): MirrorLag;
  /** When each unfinished copy of this instance was queued, by the id of the screen. */
  queuedAt(): Map<string, number>;
  queueScreens(where: ListQuery<'screens'>['where']): Promise<number>;
  /** Queues the copies of a tenant that have no playlist any more. Returns their number. */
  queueLeftovers(tenantId: string): Promise<number>;
  /** Finishes updates in flight. The next start finds all others. */
  stop(): Promise<void>;
}

/** Ids of configs contain their level, as in `venue/<id>`. Ids of screens do not. */
const isConfig = (id: string) => id.includes('/');

/**
 * Mirrors every screen's newest playlist to the object store, in the background. Publishing never
 * waits for the mirror. The copies are a cache of the store: each start compares all of them with
 * it, and so finds the changes that a crash has kept from being copied.
 */
export function makeMirror({
  store,
  onChange,
  isShared,
  copies,
  configCopies,
  clock,
  random,
  log,
}: MirrorOptions): Mirror {
  /** Ids of copies that another instance should have updated. */
  const foreign = new Set<string>();
  // A row that is read contains all changes that were announced before.
  const reader: Pick<Reader, 'get'> = {
    get(table, id) {
      foreign.delete(id);
      return store.read.get(table, id);
    },
  };
  const update = (copy: QueuedCopy) =>
    isConfig(copy.id) && configCopies
      ? syncConfig(reader, configCopies, copy)
      : syncScreen(reader, copies, copy);
  const queue = new CopyQueue({ update, clock, random, log });
  let isStopped = false;
  let isCheckDue = true;
  let isFailing = false;
  let endPause = () => {};

  const queued = (id: string, tenantId: string) => ({ id, tenantId, queuedAt: clock.now() });

  function copyOf({ table, id, row }: RowChange): QueuedCopy[] {
    const hasCopy = table === 'playlists' || (table === 'configs' && configCopies !== undefined);
    return hasCopy && row ? [queued(id, row.tenantId)] : [];
  }

  function onForeign(topic: string): void {
    const [owners = '', id] = topic.split('/');
    if (id === undefined) isCheckDue = true;
    else if (owners === 'screens') foreign.add(id);
    if (id !== undefined && configCopies && ['screens', 'venues', 'tenants'].includes(owners))
      foreign.add(`${owners.slice(0, -1)}/${id}`);
  }

  /** Queues what other instances have changed and, probably, copied. */
  async function takeOver(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (!foreign.has(id)) continue;
      const row = await reader.get(isConfig(id) ? 'configs' : 'playlists', id);
      if (row) queue.add([queued(id, row.tenantId)]);
    }
  }

  async function playlistsOf(ids: readonly string[], tenantOf: (id: string) => string) {
    const summaries = await store.playlistSummaries(ids);
    const isPresent = (id: string) => summaries.has(id);
    const copy = (id: string) => queued(id, tenantOf(id));
    return {
      present: ids.filter(isPresent).map(copy),
      absent: ids.filter((id) => !isPresent(id)).map(copy),
    };
  }

  async function queueScreens(
    where: ListQuery<'screens'>['where'],
    onPage = async (_: readonly Screen[]) => {},
  ): Promise<number> {
    let count = 0;
    const query = { where: where ?? {}, limit: pageSize };
    for await (const items of slicesOf(store, 'screens', query)) {
      const tenants = new Map(items.map(({ id, tenantId }) => [id, tenantId]));
      const { present } = await playlistsOf([...tenants.keys()], (id) => tenants.get(id) ?? '');
      queue.add(present);
      count += present.length;
      await onPage(items);
    }
    return count;
  }

  async function queueLeftovers(tenantId: string): Promise<number> {
    let count = 0;
    for await (const ids of copies.screensOf(tenantId)) {
      const { absent } = await playlistsOf(ids, () => tenantId);
      queue.add(absent);
      count += absent.length;
    }
    return count;
  }

  /** Queues the copy of a config, also of one that does not exist and may have a copy. */
  function queueConfig(level: string, ownerId: string, tenantId: string): void {
    if (configCopies) queue.add([queued(`${level}/${ownerId}`, tenantId)]);
  }

  /** Waits for the copies of a page of records, and longer after a full page. */
  async function checked(page: readonly unknown[]): Promise<void> {
    await queue.settled();
    if (page.length === pageSize && !isStopped)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(checkPauseMs, resolve);
        endPause = () => {
          cancel();
          resolve();
        };
      });
    if (queue.isDown || isStopped)
      throw new SignageError('unavailable', 'The object store fails: the check begins again.');
  }

  /** Compares all copies with the store. */
  async function check(): Promise<void> {
    await queueScreens({}, async (screens) => {
      for (const { id, tenantId } of screens) queueConfig('screen', id, tenantId);
      await checked(screens);
    });
    for await (const venues of slicesOf(store, 'venues', { limit: pageSize })) {
      for (const { id, tenantId } of venues) queueConfig('venue', id, tenantId);
      await checked(venues);
    }
    for await (const tenants of slicesOf(store, 'tenants', { limit: pageSize })) {
      for (const { id } of tenants) {
        queueConfig('tenant', id, id);
        await queueLeftovers(id);
      }
      await checked(tenants);
    }
    isFailing = false;
  }

  function onFailed(error: unknown): void {
    isCheckDue = true;
    if (!isFailing && !isStopped)
      log.warn({ err: error }, 'The copies of playlists cannot be checked; it is retried.');
    isFailing = true;
  }

  const checks = coalesced(check);

  /** Begins a check if one is due, and copies what other instances have changed. */
  async function work(): Promise<void> {
    if (isCheckDue) {
      isCheckDue = false;
      checks.run().catch(onFailed);
    }
    await takeOver([...foreign]);
  }

  onChange((rows) => queue.add(rows.flatMap(copyOf)));
  const stopWatching = isShared ? store.watch('*', onForeign) : () => {};
  let stopWork = async () => {};
  return {
    copies,
    start() {
      const first = work().catch(onFailed);
      const stopJob = startPeriodicJob(clock, takeOverMs, work, onFailed);
      stopWork = async () => {
        await Promise.all([first, stopJob()]);
        await checks.idle();
      };
    },
    queuedAt: () => queue.queuedAt(),
    lag() {
      const times = [...queue.queuedAt().values()];
      return {
        pending: times.length,
        oldestMs: times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : undefined,
        failures: queue.failures,
        isFailing: queue.hasFailing,
      };
    },
    queueScreens,
    queueLeftovers,
    async stop() {
      isStopped = true;
      endPause();
      stopWatching();
      await queue.stop();
      await stopWork();
    },
  };
}
