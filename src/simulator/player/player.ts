import { setMaxListeners } from 'node:events';
import { keepProcessAlive } from '../fleet/keep-alive.ts';
import { statusEvent } from './batch.ts';
import { PlayerCore } from './core.ts';
import { flushOnce, keepEvent, unsent } from './events.ts';
import { fetchConfig, fetchPlaylist } from './fetch.ts';
import { rotateOnce } from './key-rotation.ts';
import { runNetworkLoop, sendRemainingEvents } from './loop.ts';
import type { PlayerEnd, PlayerOptions, PlayerView } from './options.ts';
import { pairUp, registerOnce } from './pairing.ts';
import { showItems } from './playback.ts';

/** Lets the signal cut the player's power. */
function plugIn(core: PlayerCore, signal: AbortSignal | undefined): () => void {
  core.record.isCut = signal?.aborted === true;
  if (!signal) return () => {};
  const cut = () => core.cut();
  // Any number of TVs may hang on one signal.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', cut, { once: true });
  return () => signal.removeEventListener('abort', cut);
}

/** Plays and keeps in touch until the TV lives no more; when the one fails, the other ends too. */
async function play(core: PlayerCore): Promise<void> {
  core.isPlaying = true;
  keepEvent(core, statusEvent('app_started', core.clock.now()), true);
  await Promise.all([showItems(core), runNetworkLoop(core)]);
}

/**
 * One TV that behaves as docs/protocol.md asks: it registers, plays its playlist, keeps to its config's intervals, reports what it played, goes on
 * while the service is away, and starts where it was after a power cut, if it is given the same `memory`.
 *
 * `run` is all of that; the single steps are for tests. Their errors are the client's `SignageError`s; `not_registered` before there is a key.
 *
 * @example
 * const tv = new Player({ client: new RuntimeClient({ url }), deviceInfo: { model: 'TV' }, nextCode: async () => code });
 * const ended = tv.run();
 * …
 * tv.stop();
 * await ended;
 */
export class Player {
  readonly #core: PlayerCore;

  constructor(options: PlayerOptions) {
    this.#core = new PlayerCore(options);
  }

  /** What it is at now. */
  get state(): PlayerView {
    const { phase, state, showing, answers } = this.#core;
    const { binding, config, playlist, batch } = state;
    return {
      phase,
      deviceId: binding?.deviceId,
      screenId: binding?.screenId,
      tenantId: binding?.tenantId,
      config,
      playlist: playlist?.answer,
      validUntilMs: playlist?.validUntilMs,
      showing,
      queued: unsent(this.#core),
      batch,
      answers,
    };
  }

  /**
   * Is a TV: until `stop` is called, the signal aborts, or there is neither key nor code. With `forMs` it stops by itself after so long on its own
   * clock. Aborting is a power cut: from then on nothing is sent or saved. Throws when the memory cannot be read, and what `nextCode` throws.
   */
  async run(signal?: AbortSignal, forMs?: number): Promise<PlayerEnd> {
    const core = this.#core;
    const release = keepProcessAlive();
    const unplug = plugIn(core, signal);
    const cancel = forMs === undefined ? undefined : core.clock.after(forMs, () => core.stop());
    try {
      await core.record.load();
      while (!core.isEnding) {
        const end = await pairUp(core);
        if (end) return end;
        if (!core.isEnding) await play(core);
      }
      if (!core.isCut) await sendRemainingEvents(core);
      return { reason: core.isCut ? 'aborted' : 'stopped' };
    } finally {
      cancel?.();
      await core.record.saved();
      core.isStopping = false;
      release();
      unplug();
    }
  }

  /** Asks `run` to end in good order: it reports what it was showing and that it stops, sends what it can, and keeps the rest. */
  stop(): void {
    this.#core.stop();
  }

  /** Looks into the memory, which all else does by itself; answers what it is at then. */
  async load(): Promise<PlayerView> {
    await this.#core.record.load();
    return this.state;
  }

  /** One try to register with a code; repeated with the same code it gets the same answer, if that was lost. */
  register(pairingCode: string): Promise<void> {
    return this.#step((core) => registerOnce(core, pairingCode));
  }

  /** Fetches the config unless it has not changed; answers whether there was a new one. */
  fetchConfig(): Promise<boolean> {
    return this.#step(fetchConfig);
  }

  /** Likewise the playlist. Throws `playlist_not_found`, and forgets the one it had, when the screen has none. */
  fetchPlaylist(): Promise<boolean> {
    return this.#step(fetchPlaylist);
  }

  /** Sends one batch of what waits; answers how many events were stored. */
  flush(): Promise<number> {
    return this.#step(flushOnce);
  }

  /** One try to change the key for a new one; the next one repeats it, if its answer was lost. */
  rotateKey(): Promise<void> {
    return this.#step(rotateOnce);
  }

  /** Something that happened on the TV, to be reported with the rest. */
  report(event: Parameters<typeof keepEvent>[1]): void {
    keepEvent(this.#core, event);
  }

  async #step<T>(step: (core: PlayerCore) => Promise<T>): Promise<T> {
    await this.#core.record.load();
    try {
      return await step(this.#core);
    } finally {
      await this.#core.record.saved();
    }
  }
}
