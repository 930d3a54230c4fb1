import events from 'node:events';
import type { DeviceInfoInput } from '../../../client/entities.ts';
import { interrupted as interruption } from '../../../client/pause.ts';
import { RuntimeClient } from '../../../client/runtime-client.ts';
import { serviceAddress } from '../../../client/transport.ts';
import { secondMs } from '../../../domain/clock.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { Player } from '../../../player/assembly/player.ts';
import type { PlayerEnd, PlayerView } from '../../../player/options.ts';
import { ramMemory } from '../../../player/state.ts';
import { makeVirtualClock } from '../../../simulator/tv/virtual-clock.ts';
import { clientConnection } from '../../connection/connect.ts';
import { readAddress } from '../../connection/profile.ts';
import { readDeviceProfile } from '../../input/fixtures.ts';
import type { CommandContext } from '../../program/context.ts';
import { countText } from '../../terminal/text.ts';
import { renderTv, type TvStatus, updateStatus } from './render-tv.ts';
import type { SavedTv } from './state-file.ts';
import { StateFile } from './state-file.ts';
import { TvDisplay } from './tv-display.ts';
import { observe, type TvLogEntry } from './tv-log.ts';
import type { TvOptions } from './tv-options.ts';
import { type CodeSource, codeSource, needCode, PairingWatch } from './tv-pairing.ts';

/**
 * Returns the service that the TV is paired with, or registers with. Throws `state_of_elsewhere` if
 * `--url` names another service, which must not get the key.
 */
function pairedService(saved: SavedTv | undefined, { url, state }: TvOptions): string | undefined {
  if (!saved?.tv.binding && !saved?.tv.registering) return undefined;
  if (url === undefined || serviceAddress(url) === saved.service) return saved.service;
  throw new SignageError(
    'state_of_elsewhere',
    `The TV in ${state} is paired with ${saved.service}. Its key is not sent to ${url}.`,
    { hint: 'Leave out --url, or name another file with --state.' },
  );
}

/**
 * Connects to the paired service, else to the service of `--url`, else to the service of the
 * context. Uses no token.
 */
async function tvService(
  call: CommandContext,
  options: TvOptions,
  saved: SavedTv | undefined,
): Promise<{ address: string; client: RuntimeClient }> {
  const url = pairedService(saved, options) ?? options.url;
  const address = await readAddress({ ...options, url }, call.io);
  const connection = await clientConnection(address, call, call.common.verbose);
  const client = new RuntimeClient({ ...connection, url: address.url.value });
  return { address: serviceAddress(address.url.value), client };
}

const defaultProfile = 'samsung-tizen';
const members = [
  'manufacturer',
  'model',
  'osVersion',
  'appVersion',
  'macAddress',
  'ipAddress',
  'deviceName',
  'locationHint',
  'serial',
] as const;

/**
 * Returns the device info of the TV. Flags override single members of `--profile`, the saved info
 * or the default profile.
 */
async function readDeviceInfo(
  options: TvOptions,
  saved: DeviceInfoInput | undefined,
): Promise<DeviceInfoInput> {
  const given = Object.fromEntries(
    members.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const basis =
    options.profile === undefined && saved
      ? saved
      : readDeviceProfile(options.profile ?? defaultProfile, '--profile');
  return { ...basis, ...given };
}

/** Time for a clean shutdown before the player is aborted. */
const shutdownGraceMs = 2 * secondMs;

/**
 * Runs one round of a TV (`--once`). Throws if a request fails, or if there is no code. A missing
 * playlist is no error.
 */
async function runOnce(player: Player, nextCode: CodeSource, nowMs: number): Promise<void> {
  if ((await player.load()).deviceId === undefined) {
    const code = await nextCode('new', undefined);
    if (code === undefined) throw needCode();
    await player.register(code);
  }
  await player.fetchConfig().catch((error) => {
    // After a 401, the player may have switched to its previous key, so the call is repeated once.
    if (
      error instanceof SignageError &&
      error.status === 401 &&
      player.state.deviceId !== undefined
    )
      return player.fetchConfig();
    throw error;
  });
  await player.fetchPlaylist().catch((error) => {
    if (!hasCode(error, 'playlist_not_found')) throw error;
  });
  player.report({ type: 'heartbeat', timestamp: Math.floor(nowMs / 1000) });
  while ((await player.flush()) > 0);
}

/** The TV, whose player is replaced when it is to be reloaded. */
interface RunningTv {
  player: Player;
  /** Replaces the player. Returns whether that was asked for. */
  reload(): boolean;
}

/**
 * Runs the player until it ends. Asks it to stop at the first signal, after `--duration`, or when
 * the reader of stdout is gone. Aborts it `shutdownGraceMs` later.
 */
async function runUntilStopped(
  { io, clock, interrupted }: CommandContext,
  { duration }: TvOptions,
  tv: RunningTv,
  hardStop: AbortController,
): Promise<PlayerEnd> {
  let cancelHardStop: (() => void) | undefined;
  let isStopping = false;
  const stop = () => {
    isStopping = true;
    tv.player.stop();
    cancelHardStop ??= clock.after(shutdownGraceMs, () => hardStop.abort());
  };
  const cancelTime = duration === undefined ? undefined : clock.after(duration, stop);
  for (const signal of [interrupted, io.stdout.gone])
    signal?.addEventListener('abort', stop, { once: true });
  if (interrupted.aborted) stop();
  try {
    for (;;) {
      const end = await tv.player.run(hardStop.signal);
      if (isStopping || end.reason !== 'stopped' || !tv.reload()) return end;
    }
  } finally {
    cancelTime?.();
    cancelHardStop?.();
  }
}

/** Never resolves. Rejects at the first signal. */
async function untilInterrupted({ interrupted }: CommandContext): Promise<never> {
  if (!interrupted.aborted) await events.once(interrupted, 'abort');
  throw interruption();
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

async function runWithState(
  call: CommandContext,
  options: TvOptions,
  file: StateFile | undefined,
): Promise<number> {
  const { address, client } = await tvService(call, options, file?.saved);
  const deviceInfo = await readDeviceInfo(options, file?.saved?.deviceInfo);
  file?.begin(address, deviceInfo);
  const { random, interrupted } = call;
  const { once, rotateEvery: rotateEveryMs, maxWait: maxWaitSeconds, speed = 1 } = options;
  const clock =
    speed === 1
      ? call.clock
      : makeVirtualClock({ speed, startMs: call.clock.now(), wall: call.clock });
  const now = () => clock.now();
  const counts = { stored: 0, dropped: 0, identity: null, problem: undefined };
  const status: TvStatus = { service: address, deviceInfo, speed, ...counts };
  const hardStop = new AbortController();
  const watch = new PairingWatch(file?.saved?.tv.binding !== undefined, hardStop);
  const display = new TvDisplay(call, once, (size) =>
    renderTv(tv.player.state, status, now(), size),
  );
  const unpaired = { client, deviceInfo };
  const nextCode = await codeSource(call, options, unpaired, (ask) => display.suspend(ask));
  const log = (entry: TvLogEntry) => {
    watch.handle(entry);
    updateStatus(status, entry);
    display.log(entry);
    if (entry.what !== 'reload') return;
    reloadId = entry.reloadId;
    tv.player.stop();
  };
  let reloadId: string | undefined;
  const memory = file ?? ramMemory();
  const own = { client, deviceInfo, memory, nextCode, clock, random };
  const pace = { speed, rotateEveryMs, maxWaitSeconds };
  const observer = observe(now, log);
  const tv: RunningTv = {
    player: new Player({ ...own, ...pace, observer }),
    reload() {
      if (reloadId === undefined) return false;
      this.player = new Player({ ...own, ...pace, observer, reloadId });
      reloadId = undefined;
      return true;
    },
  };
  await display.open();
  try {
    if (once) {
      await Promise.race([runOnce(tv.player, nextCode, now()), untilInterrupted(call)]);
      return 0;
    }
    const { reason, error } = await runUntilStopped(call, options, tv, hardStop);
    log({ what: 'end', reason, atMs: now() });
    if (watch.fatal !== undefined) throw watch.fatal;
    if (reason === 'unpaired') throw error ?? needCode();
    return interrupted.aborted ? Number(interrupted.reason) : 0;
  } finally {
    display.close();
    noteEnd(call, options, status, tv.player.state);
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
