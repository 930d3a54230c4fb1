// A player that sits the exam.
import { pause } from '../../src/client/pause.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { TvPower } from '../../src/exam/parts/options.ts';
import { Player } from '../../src/player/assembly/player.ts';
import type { PlayerClock, PlayerOptions } from '../../src/player/options.ts';
import type { Stage } from '../../src/player/stage.ts';
import { type PlayerMemory, type PlayerState, ramMemory } from '../../src/player/state.ts';
import { changesAnswers, type Link, type LinkedTv, linked, requesterOver } from './tv/link.ts';

/** How an examined TV differs from a player with default options. */
export interface TvStyle {
  options?: Partial<PlayerOptions>;
  /** Stands between the player and the network. */
  link?: Link;
  /** Changes what the TV remembers after a power cut. */
  afterPowerCut?(state: PlayerState): PlayerState;
  /** Makes the stage of the TV. */
  makeStage?(tv: LinkedTv): Stage;
  /** By how much the clock of the TV is ahead, in milliseconds. Default: 0. */
  clockAheadMs?: number;
  /** The pairing codes that the TV takes, of those that a person enters. Default: all. */
  maxCodes?: number;
}

/** Time that a TV takes to start, in its own time: events have times in whole seconds. */
const bootMs = 1000;

/** A clock that runs `pace` times as fast as real time, and is ahead of it at the start. */
function fastClock(pace: number, aheadMs: number): PlayerClock {
  const startMs = systemClock.now();
  return {
    now: () => startMs + aheadMs + (systemClock.now() - startMs) * pace,
    after: (delayMs, wake) => systemClock.after(delayMs / pace, wake),
  };
}

/** `Retry-After` is in seconds of the service, which do not pass faster. */
const inTvSeconds = (pace: number): Link =>
  changesAnswers(({ headers, ...answer }) => {
    const seconds = headers['retry-after'];
    if (seconds === undefined) return { ...answer, headers };
    return {
      ...answer,
      headers: { ...headers, 'retry-after': String(Math.ceil(Number(seconds) * pace)) },
    };
  });

/** Spans and ends of playlists are in the time of the service, too. The TV needs its own time. */
const playlistInTvTime =
  (pace: number): Link =>
  (send, tv) =>
    changesAnswers(({ headers: { date: _, ...headers }, ...answer }) => {
      const inTvTime = (seconds: number) =>
        Math.round((tv.clock.now() + (seconds * 1000 - systemClock.now()) * pace) / 1000);
      const upcoming = answer.json?.upcoming?.map((span: { from: number; until: number }) => ({
        ...span,
        from: inTvTime(span.from),
        until: inTvTime(span.until),
      }));
      if (answer.status !== 200) return { ...answer, headers };
      const json = { ...answer.json, validUntil: inTvTime(answer.json.validUntil) };
      return { ...answer, headers, json: upcoming ? { ...json, upcoming } : json };
    }, 'playlist')(send, tv);

/** A TV: a person enters codes at it, and can pull its plug. */
export class ExaminedTv implements TvPower, LinkedTv {
  readonly clock: PlayerClock;
  readonly #pace: number;
  readonly #style: TvStyle;
  readonly #memory = ramMemory();
  #makeRequester: ReturnType<typeof requesterOver> | undefined;
  #codes: string[] = [];
  #taken = 0;
  #enter = () => {};
  starts = 0;
  isOnline = true;
  url = '';
  #plug = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(pace: number, style: TvStyle = {}) {
    this.#pace = pace;
    this.#style = style;
    this.clock = fastClock(pace, style.clockAheadMs ?? 0);
  }

  /** Enters a code. The first one switches the TV on. */
  readonly onCode = (code: string, url: string): void => {
    this.#codes.push(code);
    this.#enter();
    if (this.#running) return;
    this.url = url;
    void this.on();
  };

  async on(): Promise<void> {
    this.starts++;
    this.#plug = new AbortController();
    if (this.starts > 1) await pause(this.clock, bootMs);
    const { options, link = (send) => send, makeStage } = this.#style;
    this.#makeRequester ??= requesterOver(
      linked(link, inTvSeconds(this.#pace), playlistInTvTime(this.#pace)),
      this,
    );
    const player = new Player({
      client: new RuntimeClient({
        url: this.url,
        timeoutMs: 60_000,
        makeRequester: this.#makeRequester,
      }),
      deviceInfo: { model: 'TV' },
      clock: this.clock,
      memory: this.#remembered(),
      nextCode: () => this.nextCode(),
      ...(makeStage && { stage: makeStage(this) }),
      ...options,
    });
    this.#running = player.run(this.#plug.signal);
  }

  async off(): Promise<boolean> {
    this.#plug.abort();
    this.#enter();
    await this.#running;
    return true;
  }

  async pause(ms: number, signal: AbortSignal = this.#plug.signal): Promise<void> {
    const either = AbortSignal.any([signal, this.#plug.signal]);
    await pause(this.clock, ms, either);
    either.throwIfAborted();
  }

  #remembered(): PlayerMemory {
    const { afterPowerCut } = this.#style;
    if (!afterPowerCut || this.starts === 1) return this.#memory;
    let isFirst = true;
    return {
      save: (state) => this.#memory.save(state),
      load: async () => {
        const saved = await this.#memory.load();
        if (!isFirst || !saved) return saved;
        isFirst = false;
        return afterPowerCut(saved);
      },
    };
  }

  async nextCode(): Promise<string | undefined> {
    if (this.#taken++ === this.#style.maxCodes) return undefined;
    while (this.#codes.length === 0 && !this.#plug.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#enter = resolve;
      });
    return this.#codes.shift();
  }
}
