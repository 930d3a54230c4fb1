import type { PlaylistItem } from '../../../src/client/entities.ts';
import { type PlaybackFailure, type Stage, timerStage } from '../../../src/player/stage.ts';
import type { VirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';

const nameOf = (url: string) => url.replace(/.*\/(\w+)\.\w+$/, '$1');

/** A stage that records its calls. Items take no time to prepare, unless `prepareMs` says so. */
export class FakeStage implements Stage {
  readonly calls: string[] = [];
  readonly failures = new Map<string, PlaybackFailure>();
  prepareMs = 0;
  readonly #clock: VirtualClock;
  readonly #timer: Stage;
  readonly #startMs: number;

  constructor(clock: VirtualClock, startMs: number) {
    this.#startMs = startMs;
    this.#clock = clock;
    this.#timer = timerStage(clock);
  }

  async prepare({ creativeUrl }: PlaylistItem, signal: AbortSignal, isUrgent: boolean) {
    this.#note(`prepare ${nameOf(creativeUrl)}${isUrgent ? ' urgently' : ''}`);
    const { prepareMs } = this;
    if (prepareMs > 0)
      await new Promise<void>((resolve) => {
        this.#clock.after(prepareMs, resolve);
        signal.addEventListener('abort', () => this.#note(`abandon ${nameOf(creativeUrl)}`));
      });
    return this.failures.get(nameOf(creativeUrl));
  }

  async show(item: PlaylistItem, forMs: number, signal: AbortSignal, onVisible = () => {}) {
    const name = nameOf(item.creativeUrl);
    this.#note(`show ${name} for ${forMs / 1000}`);
    const failure = this.failures.get(name);
    return failure ? { playedMs: 0, failure } : this.#timer.show(item, forMs, signal, onVisible);
  }

  clear() {
    this.#note('clear');
  }

  #note(text: string) {
    this.calls.push(`${(this.#clock.now() - this.#startMs) / 1000} ${text}`);
  }

  /** The calls of `show` and `clear`, with their times in seconds. */
  get shown() {
    return this.calls.filter((call) => !/prepare|abandon/.test(call));
  }
}
