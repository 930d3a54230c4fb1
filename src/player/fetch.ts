import type { Fetched } from '../client/device-client.ts';
import type { ActivePlaylist, DeviceConfig } from '../client/entities.ts';
import { secondMs } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';

const statusOf = ({ answer }: Fetched<unknown>) => (answer === undefined ? 304 : 200);
const configCall: PlayerCall<Fetched<DeviceConfig>> = { operation: 'getDeviceConfig', statusOf };
const playlistCall: PlayerCall<Fetched<ActivePlaylist>> = { operation: 'getPlaylist', statusOf };

/** Fetches the config if it has changed. Returns whether it has changed. */
export async function fetchConfig(core: PlayerCore): Promise<boolean> {
  const { configTag: etag } = core.state;
  const fetched = await callWithKey(core, configCall, (client, id, signal) =>
    client.fetchConfig(id, { etag, signal, attempts: 1 }),
  );
  if (fetched.answer) {
    core.record.change({ config: fetched.answer, configTag: fetched.etag });
    core.saveInBackground();
  }
  return fetched.answer !== undefined;
}

/** `Date` has whole seconds. */
const dateErrorMs = secondMs;

/**
 * Returns the end of the playlist's validity by the TV's clock. The TV's clock may be wrong, so the
 * remaining time is computed with the service's clock. An estimate is too late by up to a second
 * and the time that the answer took. So an earlier one is kept, unless the difference shows that a
 * clock was set.
 */
function validUntilMs(
  { validUntil }: ActivePlaylist,
  answeredAtMs: number | undefined,
  { clock, speed, state, answers }: PlayerCore,
): number {
  const now = clock.now();
  const estimateMs = now + (validUntil * secondMs - (answeredAtMs ?? now)) * speed;
  if (!state.playlist) return estimateMs;
  const { answer, validUntilMs } = state.playlist;
  const beforeMs = validUntilMs + (validUntil - answer.validUntil) * secondMs * speed;
  const laterMs = estimateMs - beforeMs;
  const errorMs = dateErrorMs * speed + (answers.getPlaylist?.ms ?? 0);
  return laterMs > 0 && laterMs <= errorMs ? beforeMs : estimateMs;
}

function takePlaylist(
  core: PlayerCore,
  { answer, etag, answeredAtMs }: Fetched<ActivePlaylist>,
): void {
  const before = core.state.playlist;
  const playlist = answer ?? before?.answer;
  if (!playlist) return;
  const untilMs = validUntilMs(playlist, answeredAtMs, core);
  core.record.change({ playlist: { answer: playlist, etag, validUntilMs: untilMs } });
  if (answer) {
    core.saveInBackground();
    core.observer.onPlaylist?.(answer);
  }
  core.showNotifier.notify();
}

/**
 * Forgets the saved playlist, because the service says that the screen has no playlist
 * (docs/protocol.md §2.3).
 */
function dropPlaylist(core: PlayerCore): void {
  if (!core.state.playlist) return;
  core.record.change({ playlist: undefined });
  core.saveInBackground();
  core.observer.onPlaylist?.(undefined);
  core.showNotifier.notify();
}

/**
 * Fetches the playlist if it has changed. Returns whether it has changed. Throws
 * `playlist_not_found` if the screen has no playlist.
 */
export async function fetchPlaylist(core: PlayerCore): Promise<boolean> {
  const etag = core.state.playlist?.etag;
  try {
    const fetched = await callWithKey(core, playlistCall, (client, id, signal) =>
      client.fetchPlaylist(id, { etag, signal, attempts: 1 }),
    );
    takePlaylist(core, fetched);
    return fetched.answer !== undefined;
  } catch (error) {
    if (hasCode(error, 'playlist_not_found')) {
      core.observer.onNoPlaylist?.(error.screen);
      dropPlaylist(core);
    }
    throw error;
  }
}
