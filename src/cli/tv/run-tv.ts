import { interrupted as interruption } from '../../client/interrupted.ts';
import { secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { PlayerView } from '../../simulator/player/options.ts';
import { Player } from '../../simulator/player/player.ts';
import { ramMemory } from '../../simulator/player/state.ts';
import { makeVirtualClock } from '../../simulator/time/virtual-clock.ts';
import type { CommandContext } from '../command/context.ts';
import { counted } from '../site/counted.ts';
import { type CodeSource, codeSource } from './code-source.ts';
import { readDeviceInfo } from './device-info.ts';
import { type Happening, observe } from './happening.ts';
import { needCode } from './need-code.ts';
import { runOnce } from './run-once.ts';
import { StateFile } from './state-file.ts';
import { makeDisplay } from './tv-display.ts';
import { tvFrame } from './tv-frame.ts';
import type { TvOptions } from './tv-options.ts';
import { tvService } from './tv-service.ts';
import { note, type TvStory } from './tv-story.ts';

/** How long a good end may take once it was asked for. */
const farewellMs = 2 * secondMs;
/** How often a TV that was never paired tries before it gives up. */
const mostTries = 3;

const passing = ['unreachable', 'unavailable', 'internal_error'];
const isRefusal = ({ code, status }: SignageError) =>
  code.startsWith('pairing_code_') || status === 400;

/** Cuts the power of a TV that cannot even be paired: a real one would try for ever, but here somebody waits for it. */
class PairingWatch {
  readonly #cut: AbortController;
  #isPaired: boolean;
  #tries = 0;
  /** What kept it from being paired. */
  fatal: unknown;

  constructor(isPaired: boolean, cut: AbortController) {
    this.#isPaired = isPaired;
    this.#cut = cut;
  }

  look(happening: Happening): void {
    if (happening.what === 'bound') this.#isPaired = true;
    if (happening.what !== 'failure' || this.#isPaired) return;
    const { error } = happening;
    if (error instanceof SignageError && isRefusal(error)) return;
    if (error instanceof SignageError && passing.includes(error.code) && ++this.#tries < mostTries)
      return;
    this.fatal ??= error;
    this.#cut.abort();
  }
}

/** A good end at the first signal, at the end of the time and when nobody reads any more; a quick one when that takes too long. */
function planEnd(
  { io, clock, interrupted }: CommandContext,
  { duration }: TvOptions,
  player: Player,
  cut: AbortController,
): () => void {
  let cancelCut: (() => void) | undefined;
  const stop = () => {
    player.stop();
    cancelCut ??= clock.after(farewellMs, () => cut.abort());
  };
  const cancelTime = duration === undefined ? undefined : clock.after(duration, stop);
  for (const signal of [interrupted, io.stdout.gone])
    signal?.addEventListener('abort', stop, { once: true });
  if (interrupted.aborted) stop();
  return () => {
    cancelTime?.();
    cancelCut?.();
  };
}

/** Never resolves, and throws at the first signal. */
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
  { stored }: TvStory,
  { queued, deviceId }: PlayerView,
): void {
  if (deviceId === undefined && stored === 0) return;
  const rest =
    queued === 0 ? '' : state === undefined ? `, ${queued} lost` : `, ${queued} kept in ${state}`;
  call.note(`The TV has ended: ${counted(stored, 'event')} stored${rest}.`);
}

/** Lets the player live, or do its one round. Throws what kept it from being a TV at all. */
async function live(tv: Tv, call: CommandContext, options: TvOptions): Promise<number> {
  const { player, watch, cut, nextCode, now } = tv;
  if (options.once) {
    await Promise.race([runOnce(player, nextCode, now()), untilInterrupted(call)]);
    return 0;
  }
  const cancel = planEnd(call, options, player, cut);
  try {
    const { reason, error } = await player.run(cut.signal);
    tv.tell({ what: 'end', reason, atMs: now() });
    if (watch.fatal !== undefined) throw watch.fatal;
    if (reason === 'unpaired') throw error ?? needCode();
    return call.interrupted.aborted ? Number(call.interrupted.reason) : 0;
  } finally {
    cancel();
  }
}

/** All that one TV of the command line is made of. */
interface Tv {
  player: Player;
  watch: PairingWatch;
  cut: AbortController;
  nextCode: CodeSource;
  now(): number;
  tell(happening: Happening): void;
}

async function beTv(
  call: CommandContext,
  options: TvOptions,
  file: StateFile | undefined,
): Promise<number> {
  const { address, client } = await tvService(call, options, file?.kept);
  const deviceInfo = await readDeviceInfo(options, file?.kept?.deviceInfo);
  file?.begin(address, deviceInfo);
  const speed = options.speed ?? 1;
  const clock =
    speed === 1
      ? call.clock
      : makeVirtualClock({ speed, startMs: call.clock.now(), wall: call.clock });
  const now = () => clock.now();
  const story: TvStory = {
    service: address,
    deviceInfo,
    speed,
    stored: 0,
    dropped: 0,
    trouble: undefined,
  };
  const display = makeDisplay(call, options, (size) => tvFrame(player.state, story, now(), size));
  const cut = new AbortController();
  const watch = new PairingWatch(file?.kept?.tv.binding !== undefined, cut);
  const tell = (happening: Happening) => {
    watch.look(happening);
    note(story, happening);
    display.tell(happening);
  };
  const nextCode = await codeSource(call, options, (ask) => display.aside(ask));
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
  const player = new Player({ ...own, observer: observe(now, tell) });
  await display.open();
  try {
    return await live({ player, watch, cut, nextCode, now, tell }, call, options);
  } finally {
    display.close();
    noteEnd(call, options, story, player.state);
  }
}

/** `signage tv`: one TV in the foreground. Answers the exit code. */
export async function runTv(call: CommandContext, options: TvOptions): Promise<number> {
  call.heedHangup();
  const file = options.state === undefined ? undefined : await StateFile.open(options.state);
  try {
    if (!file)
      call.note('Without --state this TV is forgotten when it ends, and needs another code then.');
    return await beTv(call, options, file);
  } finally {
    await file?.close();
  }
}
