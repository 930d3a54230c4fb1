import { type Clock, type Random, secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { MirrorPending } from '../../domain/records/rows.ts';
import type { ConfigCopies, PlaylistCopies } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';
import { startInitialFill } from './initial-fill.ts';
import { withOutbox } from './outbox.ts';
import { mirrorConfig } from './sync-config.ts';
import { mirrorScreen } from './sync-screen.ts';
import { CopyWorker } from './worker.ts';

/** How often the store is asked for what other instances have queued and not done. */
const lookEveryMs = 30 * secondMs;
const pageSize = 200;

export interface MirrorOptions {
  store: Store;
  copies: PlaylistCopies;
  configCopies: ConfigCopies;
  clock: Clock;
  random: Random;
  log: LogSink;
}

/** How far the copies lag behind. */
export interface MirrorLag {
  pending: number;
  /** Since when the oldest of them waits, in epoch milliseconds. */
  oldestMs: number | undefined;
  /** Tries that failed, since the start. */
  failures: number;
  /** Whether there are copies that failed, and have not succeeded since. */
  isFailing: boolean;
}

export interface Mirror {
  /** To be used in place of the store that was given: it queues what changes. */
  readonly store: Store;
  lag(): MirrorLag;
  /** Finishes what is under way, and leaves the rest for the next start. */
  stop(): Promise<void>;
}

/** A screen's id has no level before it. */
const isConfig = ({ id }: MirrorPending) => id.includes('/');

/**
 * Keeps a copy of every screen's newest playlist, and of every stored config, outside the store, in the background: nobody who publishes waits for it. What is still to be done stands in
 * the store's outbox, and survives a restart.
 */
export function startMirror({
  store,
  copies,
  configCopies,
  clock,
  random,
  log,
}: MirrorOptions): Mirror {
  const copy = (of: MirrorPending) =>
    isConfig(of) ? mirrorConfig(store, configCopies, of) : mirrorScreen(store, copies, of);
  const worker = new CopyWorker({ copy, clock, random, log });
  const noting = withOutbox(store, (pending) => worker.add(pending));
  let stopped = false;
  let cancel = () => {};

  /** Takes up what is in the outbox, from before the start or from others. */
  async function takeUp(): Promise<void> {
    for (let after: string | null | undefined; after !== null && !stopped; ) {
      const page = await store.list('mirrorPending', {
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      worker.add(page.items);
      after = page.next;
    }
  }

  async function look(): Promise<void> {
    try {
      await startInitialFill(noting, copies.location);
      await takeUp();
    } catch (error) {
      log.warn(
        { err: error },
        'What is to be mirrored cannot be read from the store: it is tried again.',
      );
    }
    if (!stopped) cancel = clock.after(lookEveryMs, () => (looking = look()));
  }

  let looking = look();
  return {
    store: noting,
    lag() {
      const { size, oldestMs, isTroubled } = worker.queue;
      return { pending: size, oldestMs, failures: worker.failures, isFailing: isTroubled };
    },
    async stop() {
      stopped = true;
      cancel();
      await looking;
      await worker.stop();
    },
  };
}
