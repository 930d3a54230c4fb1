import type { EventInput } from '../../client/entities.ts';
import { keepProcessAlive } from '../../client/pause.ts';
import { statusEvent } from '../batch.ts';
import { watchChanges } from '../changes.ts';
import { PlayerCore } from '../core.ts';
import { flushOnce, queueEvent, queueHeartbeat, unsentCount } from '../events.ts';
import { fetchConfig, fetchPlaylist } from '../fetch.ts';
import { reportIdentity } from '../identify.ts';
import { rotateOnce } from '../key-rotation.ts';
import { runNetworkLoop, sendRemainingEvents } from '../loop.ts';
import type { PlayerEnd, PlayerOptions, PlayerView } from '../options.ts';
import { pair, registerOnce } from '../pairing/pairing.ts';
import { showItems } from '../playing/playback.ts';

/** Cuts the player's power when the signal aborts. Returns a function that removes the listener. */
function connectPower(core: PlayerCore, signal: AbortSignal | undefined): () => void {
  core.record.isCut = signal?.aborted === true;
  if (!signal) return () => {};
  const cut = () => core.cut();
  signal.addEventListener('abort', cut, { once: true });
  return () => signal.removeEventListener('abort', cut);
}

/**
 * Runs all loops of the TV until it stops, loses its key or loses power. If one of playback and the
 * network loop ends, all loops end.
 */
async function play(core: PlayerCore): Promise<void> {
  core.isPlaying = true;
  const { reloadId } = core;
  core.reloadId = undefined;
  const started = statusEvent('app_started', core.clock.now(), core.isHidden);
  queueEvent(core, { ...started, ...(reloadId !== undefined && { reloadId }) }, true);
  await Promise.all([showItems(core), runNetworkLoop(core), watchChanges(core)]);
}

/**
 * The TV side of docs/protocol.md, for the web player, `signage tv` and the simulator. A player
 * registers, plays its playlist, keeps the intervals of its config, and reports the played items.
 * It keeps playing while the service is down. It resumes after a power cut if it gets the same
 * `memory`.
 *
 * `run` does all of this. `register`, `fetchConfig`, `fetchPlaylist`, `flush` and `rotateKey` are
 * single steps, for tests. They throw the client's `SignageError`s. Steps that need a key throw
 * `not_registered` without one.
 *
 * @example
 * const tv = new Player({
 *   client: new RuntimeClient({ url }),
 *   deviceInfo: { model: 'TV' },
 *   nextCode: async () => code,
 * });
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

  /** Returns a snapshot of the state. */
  get state(): PlayerView {
    const { phase, state, showing, answers, present } = this.#core;
    const { binding, config, playlist, batch } = state;
    return {
      phase,
      deviceId: binding?.deviceId,
      screenId: binding?.screenId,
      tenantId: binding?.tenantId,
      config,
      playlist: present?.playlist ?? playlist?.answer,
      validUntilMs: present?.untilMs ?? playlist?.validUntilMs,
      showing,
      queued: unsentCount(this.#core),
      batch,
      answers,
    };
  }

  /**
   * Runs the TV until `stop` is called, the signal aborts, or there is neither a key nor a code.
   * With `forMs`, the TV stops after this time by its own clock, in milliseconds.
   *
   * An abort acts like a power cut: the TV sends and saves nothing any more. Rejects if the memory
   * cannot be read or `nextCode` rejects.
   */
  async run(signal?: AbortSignal, forMs?: number): Promise<PlayerEnd> {
    const core = this.#core;
    const release = keepProcessAlive();
    const disconnectPower = connectPower(core, signal);
    const cancel = forMs === undefined ? undefined : core.clock.after(forMs, () => core.stop());
    try {
      await core.record.load();
      core.observer.onPlaylist?.(core.state.playlist?.answer);
      while (!core.isEnding) {
        const end = await pair(core);
        if (end) return end;
        if (!core.isEnding) await play(core);
      }
      if (!core.isCut) await sendRemainingEvents(core);
      return { reason: core.isCut ? 'aborted' : 'stopped' };
    } finally {
      cancel?.();
      await core.record.whenSaved();
      core.isStopping = false;
      release();
      disconnectPower();
    }
  }

  /**
   * Asks `run` to stop in an orderly way. `run` reports the current item and `app_stopped`, and
   * sends the queued events. Events that cannot be sent stay saved.
   */
  stop(): void {
    this.#core.stop();
  }

  /**
   * Loads the saved state, and returns the state. `run` and the single steps also load the saved
   * state.
   */
  async load(): Promise<PlayerView> {
    await this.#core.record.load();
    return this.state;
  }

  /**
   * Makes one attempt to register with a pairing code. After a lost response, call `register` again
   * with the same code.
   */
  register(pairingCode: string): Promise<void> {
    return this.#step((core) => registerOnce(core, pairingCode));
  }

  /**
   * Makes `run` stop trying the current code and ask for another code. Does nothing if no
   * registration is pending.
   */
  withdrawCode(): void {
    this.#core.isCodeWithdrawn = this.#core.state.registering !== undefined;
    this.#core.networkNotifier.notify();
  }

  /** Fetches the config if it has changed. Returns whether it has changed. */
  fetchConfig(): Promise<boolean> {
    return this.#step(fetchConfig);
  }

  /**
   * Fetches the playlist if it has changed. Returns whether it has changed. If the screen has no
   * playlist, forgets the saved playlist and throws `playlist_not_found`.
   */
  fetchPlaylist(): Promise<boolean> {
    return this.#step(fetchPlaylist);
  }

  /**
   * Sends one batch of queued events. Returns the number of stored events, or 0 if the queue was
   * empty.
   */
  flush(): Promise<number> {
    return this.#step(flushOnce);
  }

  /** Makes one attempt to rotate the key. After a lost response, call `rotateKey` again. */
  rotateKey(): Promise<void> {
    return this.#step(rotateOnce);
  }

  /**
   * Tells whether nobody can see the stage, such as while the display is off. The player then plays
   * and counts nothing, and says so with each heartbeat. Afterwards it begins at once with the item
   * that it had interrupted.
   */
  setHidden(isHidden: boolean): void {
    const core = this.#core;
    if (core.isHidden === isHidden) return;
    core.isHidden = isHidden;
    core.showNotifier.notify();
    reportIdentity(core);
    if (core.isLive) queueHeartbeat(core);
  }

  /** Queues an event. It is sent together with the other queued events. */
  report(event: EventInput): void {
    queueEvent(this.#core, event);
  }

  async #step<T>(step: (core: PlayerCore) => Promise<T>): Promise<T> {
    await this.#core.record.load();
    try {
      return await step(this.#core);
    } finally {
      await this.#core.record.whenSaved();
    }
  }
}
