import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MirrorPending } from '../../domain/records/rows.ts';
import type { ConfigCopies, PlaylistCopies } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';
import { startInitialFill } from './initial-fill.ts';
import { withOutbox } from './outbox.ts';
import { syncConfig, syncScreen } from './sync.ts';
import { MirrorWorker } from './worker.ts';

/**
 * Interval at which the outbox is polled for entries that other instances queued and did not
 * finish.
 */
const pollIntervalMs = 30 * secondMs;
const pageSize = 200;

export interface MirrorOptions {
  store: Store;
  copies: PlaylistCopies;
  configCopies: ConfigCopies;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/** Backlog of the mirror. */
export interface MirrorLag {
  pending: number;
  /**
   * Time at which the oldest entry was queued, in epoch milliseconds. `undefined` if no entry is
   * pending.
   */
  oldestMs: number | undefined;
  /** Number of failed attempts since the start. */
  failures: number;
  /** Whether any copy has failed and not succeeded since. */
  isFailing: boolean;
}

export interface Mirror {
  /**
   * The given store with an outbox. Each change of a config, and of the version or state of a
   * newest playlist, is queued. Use it in place of the given store.
   */
  readonly store: Store;
  lag(): MirrorLag;
  /** Finishes attempts in flight. All other entries stay in the outbox for the next start. */
  stop(): Promise<void>;
}

/** Ids of configs contain their level, as in `venue/<id>`. Ids of screens do not. */
const isConfig = ({ id }: MirrorPending) => id.includes('/');

/**
 * Mirrors every screen's newest playlist and every stored config to the object store, in the
 * background. Publishing never waits for the mirror. Pending work is in the store's outbox, and
 * survives a restart.
 */
export function startMirror({
  store,
  copies,
  configCopies,
  clock,
  random,
  log,
}: MirrorOptions): Mirror {
  const sync = (pending: MirrorPending) =>
    isConfig(pending)
      ? syncConfig(store, configCopies, pending)
      : syncScreen(store, copies, pending);
  const worker = new MirrorWorker({ sync, clock, random, log });
  const decoratedStore = withOutbox(store, (pending) => worker.add(pending));
  let stopped = false;
  let cancel = () => {};

  /**
   * Hands all entries of the outbox to the worker, including those from before the start or from
   * other instances.
   */
  async function queuePending(): Promise<void> {
    for (let after: string | null | undefined; after !== null && !stopped; ) {
      const page = await store.list('mirrorPending', {
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      worker.add(page.items);
      after = page.next;
    }
  }

  async function poll(): Promise<void> {
    try {
      await startInitialFill(decoratedStore, copies.location);
      await queuePending();
    } catch (error) {
      // Requests report a store that is unavailable.
      const level = hasCode(error, 'unavailable') ? 'debug' : 'warn';
      log[level](
        { err: error },
        'The outbox of the mirror cannot be read from the store; it is retried.',
      );
    }
    if (!stopped) cancel = clock.after(pollIntervalMs, () => (polling = poll()));
  }

  let polling = poll();
  return {
    store: decoratedStore,
    lag() {
      const { size, oldestMs, hasFailing } = worker.queue;
      return { pending: size, oldestMs, failures: worker.failures, isFailing: hasFailing };
    },
    async stop() {
      stopped = true;
      cancel();
      await polling;
      await worker.stop();
    },
  };
}
