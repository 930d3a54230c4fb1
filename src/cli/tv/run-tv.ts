import { interrupted as interruption } from '../../client/pause.ts';
import { secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { PlayerView } from '../../simulator/player/options.ts';
import { Player } from '../../simulator/player/player.ts';
import { ramMemory } from '../../simulator/player/state.ts';
import { makeVirtualClock } from '../../simulator/time/virtual-clock.ts';
import type { CommandContext } from '../command/context.ts';
import { countText } from '../site/count-text.ts';
import { type CodeSource, codeSource, needCode } from './code-source.ts';
import { readDeviceInfo } from './device-info.ts';
import { observe, type TvLogEntry } from './log-entry.ts';
import { renderTv, type TvStatus, updateStatus } from './render-tv.ts';
import { runOnce } from './run-once.ts';
import { StateFile } from './state-file.ts';
import { makeDisplay } from './tv-display.ts';
import type { TvOptions } from './tv-options.ts';
import { tvService } from './tv-service.ts';

/** Time for a clean shutdown before the player is aborted. */
const shutdownGraceMs = 2 * secondMs;
/** Failed attempts of a TV that was never paired before it gives up. */
const maxAttempts = 3;

const transientCodes = ['unreachable', 'unavailable', 'internal_error'];
const isRejection = ({ code, status }: SignageError) =>
  code.startsWith('pairing_code_') || status === 400;

/** Aborts a TV that cannot be paired. A real TV would retry forever, but here a person waits. */
class PairingWatch {
  readonly #hardStop: AbortController;
  #isPaired: boolean;
  #attempts = 0;
  /** The error that prevented pairing. */
  fatal: unknown;

  constructor(isPaired: boolean, hardStop: AbortController) {
    this.#isPaired = isPaired;
    this.#hardStop = hardStop;
  }

  handle(entry: TvLogEntry): void {
    if (entry.what === 'bound') this.#isPaired = true;
    if (entry.what !== 'failure' || this.#isPaired) return;
    const { error } = entry;
    if (error instanceof SignageError && isRejection(error)) return;
    if (
      error instanceof SignageError &&
      transientCodes.includes(error.code) &&
      ++this.#attempts < maxAttempts
    )
      return;
    this.fatal ??= error;
    this.#hardStop.abort();
  }
}

/**
 * Stops the player cleanly at the first signal, at `--duration`, or when stdout closes. Aborts it
 * after `shutdownGraceMs`. Returns a function that cancels the timers.
 */
function planShutdown(
  { io, clock, interrupted }: CommandContext,
  { duration }: TvOptions,
  player: Player,
  hardStop: AbortController,
): () => void {
  let cancelHardStop: (() => void) | undefined;
  const stop = () => {
    player.stop();
    cancelHardStop ??= clock.after(shutdownGraceMs, () => hardStop.abort());
  };
  const cancelTime = duration === undefined ? undefined : clock.after(duration, stop);
  for (const signal of [interrupted, io.stdout.gone])
    signal?.addEventListener('abort', stop, { once: true });
  if (interrupted.aborted) stop();
  return () => {
    cancelTime?.();
    cancelHardStop?.();
  };
}

/** Never resolves. Rejects at the first signal. */
function untilInterrupted({ interrupted }: CommandContext): Promise<never> {
  return new Promise((_, fail) => {
    const end = () => fail(interruption());
    if (interrupted.aborted) end();
    interrupted.addEventListener('abort', end, { once: true });
  });
}

function noteEnd(
  call: CommandContext,
  { state }: TvOptions,
  { stored }: TvStatus,
  { queued, deviceId }: PlayerView,
): void {
  if (deviceId === undefined && stored === 0) return;
  const rest =
    queued === 0 ? '' : state === undefined ? `, ${queued} lost` : `, ${queued} saved in ${state}`;
  call.note(`The TV has stopped: ${countText(stored, 'event')} stored${rest}.`);
}

/** Runs the player, or one round with `--once`. Throws the error that prevented pairing, if any. */
async function runPlayer(tv: Tv, call: CommandContext, options: TvOptions): Promise<number> {
  const { player, watch, hardStop, nextCode, now } = tv;
  if (options.once) {
    await Promise.race([runOnce(player, nextCode, now()), untilInterrupted(call)]);
    return 0;
  }
  const cancel = planShutdown(call, options, player, hardStop);
  try {
    const { reason, error } = await player.run(hardStop.signal);
    tv.log({ what: 'end', reason, atMs: now() });
    if (watch.fatal !== undefined) throw watch.fatal;
    if (reason === 'unpaired') throw error ?? needCode();
    return call.interrupted.aborted ? Number(call.interrupted.reason) : 0;
  } finally {
    cancel();
  }
}

/** The parts of the TV that this command runs. */
interface Tv {
  player: Player;
  watch: PairingWatch;
  hardStop: AbortController;
  nextCode: CodeSource;
  now(): number;
  log(entry: TvLogEntry): void;
}

async function runWithState(
  call: CommandContext,
  options: TvOptions,
  file: StateFile | undefined,
): Promise<number> {
  const { address, client } = await tvService(call, options, file?.saved);
  const deviceInfo = await readDeviceInfo(options, file?.saved?.deviceInfo);
  file?.begin(address, deviceInfo);
  const speed = options.speed ?? 1;
  const clock =
    speed === 1
      ? call.clock
      : makeVirtualClock({ speed, startMs: call.clock.now(), wall: call.clock });
  const now = () => clock.now();
  const status: TvStatus = {
    service: address,
    deviceInfo,
    speed,
    stored: 0,
    dropped: 0,
    problem: undefined,
  };
  const display = makeDisplay(call, options, (size) => renderTv(player.state, status, now(), size));
  const hardStop = new AbortController();
  const watch = new PairingWatch(file?.saved?.tv.binding !== undefined, hardStop);
  const log = (entry: TvLogEntry) => {
    watch.handle(entry);
    updateStatus(status, entry);
    display.log(entry);
  };
  const nextCode = await codeSource(call, options, (ask) => display.suspend(ask));
  const memory = file ?? ramMemory();
  const { rotateEvery: rotateEveryMs } = options;
  const own = {
    client,
    deviceInfo,
    memory,
    nextCode,
    clock,
    random: call.random,
    speed,
    rotateEveryMs,
  };
  const player = new Player({ ...own, observer: observe(now, log) });
  await display.open();
  try {
    return await runPlayer({ player, watch, hardStop, nextCode, now, log }, call, options);
  } finally {
    display.close();
    noteEnd(call, options, status, player.state);
  }
}

/** Runs `signage tv`: one TV in the foreground. Returns the exit code. */
export async function runTv(call: CommandContext, options: TvOptions): Promise<number> {
  call.heedHangup();
  const file = options.state === undefined ? undefined : await StateFile.open(options.state);
  try {
    if (!file)
      call.note('Without --state this TV is lost when it stops. It then needs a new code.');
    return await runWithState(call, options, file);
  } finally {
    await file?.close();
  }
}
