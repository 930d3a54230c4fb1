import type { Fetched } from '../../client/runtime-client.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { Playlist } from './batch.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';
import type { PlayerConfig } from './state.ts';

const statusOf = ({ answer }: Fetched<unknown>) => (answer === undefined ? 304 : 200);
const configCall: PlayerCall<Fetched<PlayerConfig>> = { operation: 'getDeviceConfig', statusOf };
const playlistCall: PlayerCall<Fetched<Playlist>> = { operation: 'getPlaylist', statusOf };

/** Fetches the config unless it has not changed; answers whether there was a new one. */
export async function fetchConfig(core: PlayerCore): Promise<boolean> {
  const { configTag: etag } = core.state;
  const fetched = await callWithKey(core, configCall, (client, id, signal) =>
    client.fetchConfig(id, { etag, signal, attempts: 1 }),
  );
  if (fetched.answer) {
    core.record.change({ config: fetched.answer, configTag: fetched.etag });
    core.saveSoon();
  }
  return fetched.answer !== undefined;
}

/** Until when a playlist may be played, by the TV's clock: that may be wrong, so what counts is how long it lasts by the service's. */
function validUntilMs(
  { validUntil }: Playlist,
  answeredAtMs: number | undefined,
  { clock, speed }: PlayerCore,
): number {
  const now = clock.now();
  return now + (validUntil * secondMs - (answeredAtMs ?? now)) * speed;
}

function takePlaylist(core: PlayerCore, { answer, etag, answeredAtMs }: Fetched<Playlist>): void {
  const playlist = answer ?? core.state.playlist?.answer;
  if (!playlist) return;
  const wasThere = core.state.playlist !== undefined;
  core.record.change({
    playlist: { answer: playlist, etag, validUntilMs: validUntilMs(playlist, answeredAtMs, core) },
  });
  if (answer) core.saveSoon();
  // A new one begins after the item that is shown now; where nothing is shown, at once.
  if (!wasThere || !core.showing) core.showBell.ring();
}

/** The service has decided that there is none (docs/protocol.md §2.3): what is kept must not be played on. */
function dropPlaylist(core: PlayerCore): void {
  if (!core.state.playlist) return;
  core.record.change({ playlist: undefined });
  core.saveSoon();
  core.showBell.ring();
}

/** Fetches the playlist unless it has not changed; answers whether there was a new one. Throws `playlist_not_found` when there is none. */
export async function fetchPlaylist(core: PlayerCore): Promise<boolean> {
  const etag = core.state.playlist?.etag;
  try {
    const fetched = await callWithKey(core, playlistCall, (client, id, signal) =>
      client.fetchPlaylist(id, { etag, signal, attempts: 1 }),
    );
    takePlaylist(core, fetched);
    return fetched.answer !== undefined;
  } catch (error) {
    if (hasCode(error, 'playlist_not_found')) dropPlaylist(core);
    throw error;
  }
}
