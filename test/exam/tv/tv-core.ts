import { setMaxListeners } from 'node:events';
import type { Failure, Habits, Operation } from './habits.ts';
import type { TvClock } from './tv-clock.ts';
import type { TvState } from './tv-memory.ts';
import { requestOnce, type TvAnswer } from './tv-request.ts';

/** A request with the TV's key. `path` stands behind `/devices/:id/`. */
export interface TvCall {
  operation: Operation;
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

export interface TvOptions {
  url: string;
  habits: Habits;
  clock: TvClock;
  /** Returns the next pairing code that a person types. */
  nextCode(signal: AbortSignal): Promise<string>;
}

/** The state of one TV between two power cuts, and the calls that its loops share. */
export class TvCore {
  readonly options: TvOptions;
  readonly habits: Habits;
  readonly state: TvState;
  /** Aborts when the power is cut. */
  readonly power: AbortSignal;
  /** Status of the last answer to each operation since the start. */
  readonly lastStatus: Partial<Record<Operation, number>> = {};
  /** Whether there was no answer since the start. */
  isFresh = true;
  #offlineSinceMs: number | undefined;
  #binding = new AbortController();

  constructor(options: TvOptions, state: TvState, power: AbortSignal) {
    this.options = options;
    this.habits = options.habits;
    this.state = state;
    this.power = power;
  }

  /** How long there was no answer, in milliseconds of the TV. */
  get offlineMs(): number {
    return this.#offlineSinceMs === undefined ? 0 : this.now() - this.#offlineSinceMs;
  }

  get syncMs(): number {
    return this.habits.syncMs(this.state.config);
  }

  now(): number {
    return this.options.clock.now();
  }

  /** Waits for `ms` of the TV's time. Rejects when the power is cut or the key is forgotten. */
  sleep(ms: number): Promise<void> {
    return this.options.clock.sleep(ms, this.#signal);
  }

  get #signal(): AbortSignal {
    return this.#binding.signal;
  }

  startBinding(): void {
    const binding = new AbortController();
    this.#binding = binding;
    setMaxListeners(0, binding.signal);
    if (this.power.aborted) binding.abort();
    this.power.addEventListener('abort', () => binding.abort(), { signal: binding.signal });
  }

  /** Ends all loops and requests of the binding. */
  endBinding(): void {
    this.#binding.abort();
  }

  addEvent(type: string, members: object = {}): void {
    if (!this.habits.keepsEvent(this.lastStatus.events)) return;
    const { habits, state } = this;
    const timestamp = Math.floor(this.now() / 1000);
    const isNumbered = habits.numbersEvents && habits.numbersType(type);
    const numbered = isNumbered && { seq: habits.sentSeq(state.nextSeq) };
    if (isNumbered) state.nextSeq = habits.nextSeq(state.nextSeq);
    state.queue.push(habits.event({ type, timestamp, ...numbered, ...members }));
  }

  /** Returns how long to wait after a failed answer. `failures` counts those in a row, from 1. */
  failureOf(operation: Operation, answer: TvAnswer, failures: number): Failure {
    const { status, code, retryAfterSeconds } = answer;
    // `Retry-After` is in seconds of the service, whatever the pace of the TV.
    const retryAfterMs =
      retryAfterSeconds === undefined
        ? undefined
        : retryAfterSeconds * 1000 * this.options.clock.pace;
    return { operation, status, code, retryAfterMs, failures, syncMs: this.syncMs };
  }

  /** Makes one attempt without a key. */
  async request(
    { operation, method, path, headers, body }: TvCall,
    apiKey?: string,
  ): Promise<TvAnswer> {
    const answer = await requestOnce(`${this.options.url}/devices/${path}`, {
      method,
      headers: {
        ...headers,
        Authorization: apiKey && `Bearer ${apiKey}`,
        'Content-Type': body === undefined ? undefined : 'application/json',
      },
      body,
      signal: this.#signal,
    });
    this.lastStatus[operation] = answer.status;
    if (answer.status !== 0) this.isFresh = false;
    if (answer.status !== 0) this.#offlineSinceMs = undefined;
    else this.#offlineSinceMs ??= this.now();
    return answer;
  }

  /** Makes one attempt with the TV's key. An answer that ends the key also ends the loops. */
  async call(call: TvCall): Promise<TvAnswer> {
    this.#signal.throwIfAborted();
    const { binding } = this.state;
    if (!binding) throw new Error('The TV has no key.');
    const { screenId, apiKey } = binding;
    const joint = call.path.includes('?') ? '&' : '?';
    const query = this.habits.query(apiKey);
    const path = `${screenId}/${call.path}${query && joint + query}`;
    const answer = await this.request({ ...call, path }, apiKey);
    const isCurrent = this.state.binding?.apiKey === apiKey;
    const isLost = this.habits.forgetsKey(answer.code, answer.status, this.offlineMs);
    if (isCurrent && isLost) this.#loseKey();
    this.#signal.throwIfAborted();
    return answer;
  }

  /** Repeats a call until the answer is one that its caller handles. */
  async callUntil(
    call: TvCall,
    isSettled: (answer: TvAnswer) => boolean,
    onFailure?: (status: number) => void,
  ): Promise<TvAnswer> {
    for (let failures = 1; ; failures++) {
      const answer = await this.call(call);
      if (isSettled(answer)) return answer;
      onFailure?.(answer.status);
      await this.sleep(this.habits.retryMs(this.failureOf(call.operation, answer, failures)));
    }
  }

  /** Uses a new key, and keeps the former one as a fallback (§2.8). */
  changeKey(apiKey: string): void {
    const { state } = this;
    delete state.rotationKey;
    if (!state.binding || !this.habits.usesNewKey) return;
    state.formerKey = state.binding.apiKey;
    state.binding = { ...state.binding, apiKey };
  }

  /** Goes back to the former key once (§2.8), or forgets everything about the screen. */
  #loseKey(): void {
    const { state } = this;
    if (state.binding && state.formerKey) {
      state.binding = { ...state.binding, apiKey: state.formerKey };
      delete state.formerKey;
      return;
    }
    delete state.binding;
    delete state.playlist;
    delete state.playlistEtag;
    delete state.configEtag;
    delete state.rotationKey;
    state.nextSeq = 1;
    state.queue = [];
    state.batches = [];
    this.endBinding();
  }
}
