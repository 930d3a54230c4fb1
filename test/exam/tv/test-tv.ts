import { holdChanges, pollConfig, pollPlaylist } from './fetching.ts';
import { beat, play, report } from './reporting.ts';
import { TvCore, type TvOptions } from './tv-core.ts';
import { emptyState, type TvState } from './tv-memory.ts';
import type { TvAnswer } from './tv-request.ts';

const minuteMs = 60_000;

/** Makes one attempt to register (docs/protocol.md §3). */
async function register(core: TvCore, code: string, failures: number): Promise<TvAnswer> {
  const { state, habits } = core;
  const key = habits.registrationKey(state.registration, code);
  state.registration = { code, key };
  const answer = await core.request({
    operation: 'register',
    method: 'POST',
    path: `register${habits.registrationQuery(code)}`,
    headers: { 'Idempotency-Key': key },
    body: JSON.stringify({ pairingCode: code, deviceInfo: habits.deviceInfo(failures) }),
  });
  if (answer.status === 201) {
    const { screenId, apiKey, config } = answer.json;
    state.binding = { screenId, apiKey };
    state.config = config;
  }
  return answer;
}

/** Registers, with further codes if one is refused, until the TV has a key. */
async function pair(core: TvCore): Promise<void> {
  const { state, habits, options } = core;
  for (let failures = 0; !state.binding; failures++) {
    state.typedCode ??= await options.nextCode(core.power);
    const answer = await register(core, state.typedCode, failures);
    const isOver = state.binding !== undefined || answer.code?.startsWith('pairing_code_');
    const isRefused = answer.status === 400 && !habits.repeatsRefusedRegistration;
    if (isOver || isRefused) {
      delete state.typedCode;
      failures = -1;
    } else {
      const failure = core.failureOf('register', answer, failures + 1);
      await core.sleep(habits.retryMs(failure));
    }
  }
}

/** Changes the key at an interval (docs/protocol.md §2.8). */
async function rotate(core: TvCore, everyMinutes: number): Promise<void> {
  const { state, habits } = core;
  for (;;) {
    if (state.rotationKey === undefined) await core.sleep(everyMinutes * minuteMs);
    for (let failures = 1; ; failures++) {
      state.rotationKey = habits.rotationKey(state.rotationKey);
      const answer = await core.call({
        operation: 'rotate',
        method: 'POST',
        path: 'keys/rotate',
        headers: { 'Idempotency-Key': state.rotationKey },
      });
      if (answer.status === 201) {
        core.changeKey(answer.json.apiKey);
        break;
      }
      if (answer.code === 'idempotency_key_reused') delete state.rotationKey;
      await core.sleep(habits.retryMs(core.failureOf('rotate', answer, failures)));
    }
  }
}

/** A whole TV. It keeps its state across power cuts. */
export class TestTv {
  readonly #options: TvOptions;
  #state: TvState = emptyState();
  #power: AbortController | undefined;
  #life: Promise<void> = Promise.resolve();

  constructor(options: TvOptions) {
    this.#options = options;
  }

  powerOn(): void {
    this.#power = new AbortController();
    const core = new TvCore(this.#options, this.#state, this.#power.signal);
    this.#life = this.#live(core);
  }

  /** Cuts the power. Resolves when nothing of the TV runs any more. Rejects if a loop failed. */
  async powerOff(): Promise<void> {
    this.#power?.abort();
    await this.#life;
    this.#state = this.#options.habits.afterPowerCut(this.#state);
  }

  async #live(core: TvCore): Promise<void> {
    let wasBound = false;
    while (!core.power.aborted) {
      if (wasBound && !core.habits.pairsAgain) return;
      core.startBinding();
      try {
        await pair(core);
        wasBound = true;
        await this.#runLoops(core);
      } catch (error) {
        if ((error as Error).name !== 'AbortError') throw error;
      }
    }
  }

  /** Runs all loops until the power is cut or the key is lost. Waits until all have ended. */
  async #runLoops(core: TvCore): Promise<void> {
    const { habits } = core;
    const loops = [beat(core), play(core)];
    if (habits.reports) loops.push(report(core));
    if (habits.fetchesConfig) loops.push(pollConfig(core));
    if (habits.fetchesPlaylist) loops.push(pollPlaylist(core));
    if (habits.holdsChanges) loops.push(holdChanges(core));
    if (habits.rotateEveryMinutes) loops.push(rotate(core, habits.rotateEveryMinutes));
    try {
      await Promise.all(loops);
    } finally {
      core.endBinding();
      await Promise.allSettled(loops);
    }
  }
}
