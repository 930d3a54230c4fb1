import { createHash } from 'node:crypto';
import { hasCode, SignageError } from '../domain/error.ts';
import { servedValidUntil } from '../domain/playlist.ts';
import type { Device, Playlist } from '../domain/records.ts';
import type { ChainAnswer, ConfigCopies, OriginName, PlaylistChain } from '../origin/origin.ts';
import { configInForce, type ForceConfig, layConfigs } from './configs.ts';
import type { Kit } from './context.ts';
import type { DeviceCaller } from './device-auth.ts';
import type { ServedVersions } from './served-versions.ts';

/** A body for a TV, with its strong ETag; `body` is `null` when the TV has it already. */
export interface Answer {
  body: string | null;
  etag: string;
}

/** Whether an `If-None-Match` header names this ETag (RFC 9110 §13.1.2: weak comparison). */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** What a TV gets: its members are a function of playlist, version and end, so these make the ETag. */
function render(row: Playlist, validUntil: number): { text: string; etag: string } {
  const { playlistId: id, tenantId, screenId, version, items } = row;
  const head = JSON.stringify({ id, tenantId, screenId, status: 'active', version, validUntil });
  return { text: `${head.slice(0, -1)},"items":${items}}`, etag: `"${id}.${version}.${validUntil}"` };
}

/** The config as the copies in the object store have it. */
function copiedConfig(copies: ConfigCopies, device: Device): Promise<ForceConfig> {
  return layConfigs(device, async (id) => {
    const held = await copies.read({ id, tenantId: device.tenantId });
    if (held && !held.row) throw new SignageError('origin_bad_answer', `The copy of the config ${id} cannot be used.`);
    return held?.row;
  });
}

interface PlaybackPlaces {
  ask: PlaylistChain;
  served?: Pick<ServedVersions, 'note'> | undefined;
  /** Where configs come from while the store cannot be asked, if they are to. */
  configCopies?: ConfigCopies | undefined;
}

/** What TVs fetch: playlist and config (docs/protocol.md §2.3, §2.4). */
export function makePlayback(kit: Kit, { ask: askOrigins, served, configCopies }: PlaybackPlaces) {
  const { store, clock } = kit;

  function note(deviceId: string, lastPlaylistStatus: number, version?: number): void {
    const marks = { lastPlaylistAt: clock.now(), lastPlaylistStatus };
    store.touch('device', deviceId, version === undefined ? marks : { ...marks, lastPlaylistVersion: version });
  }

  function refuse(deviceId: string, answer: Exclude<ChainAnswer, { kind: 'playlist' }>): SignageError {
    const failed = answer.kind === 'failed';
    note(deviceId, failed ? 500 : 404);
    if (!failed) return new SignageError('playlist_not_found', 'There is no playlist for this screen yet.');
    return new SignageError('playlist_fetch_failed', 'The playlist cannot be fetched right now: play on, and try again.', {
      cause: answer.cause,
      retryAfterSeconds: 5,
    });
  }

  /** Throws `playlist_not_found`, `playlist_fetch_failed`. */
  async function playlist(
    { device, screen }: DeviceCaller,
    ifNoneMatch: string | undefined,
  ): Promise<Answer & { version: number; source: OriginName }> {
    const answer = await askOrigins(screen);
    if (answer.kind !== 'playlist') throw refuse(device.id, answer);
    const { playlist: row, source } = answer;
    const { text, etag } = render(row, Math.floor(servedValidUntil(row, clock.now()) / 1000));
    const known = matches(ifNoneMatch, etag);
    note(device.id, known ? 304 : 200, row.version);
    served?.note(screen.id, row.version);
    return { body: known ? null : text, etag, version: row.version, source };
  }

  async function configOf(device: Device): Promise<ForceConfig> {
    try {
      return await configInForce(store.read, device);
    } catch (error) {
      if (configCopies && hasCode(error, 'unavailable')) return copiedConfig(configCopies, device);
      throw error;
    }
  }

  /** Throws `config_fetch_failed`. */
  async function config({ device }: DeviceCaller, ifNoneMatch: string | undefined): Promise<Answer & Pick<ForceConfig, 'source'>> {
    const inForce = await configOf(device).catch((cause: unknown) => {
      throw new SignageError('config_fetch_failed', 'The config cannot be fetched right now: keep the one you have, and try again.', {
        cause,
        retryAfterSeconds: 5,
      });
    });
    const text = JSON.stringify(inForce.config);
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    store.touch('device', device.id, { lastConfigAt: clock.now() });
    return { body: matches(ifNoneMatch, etag) ? null : text, etag, source: inForce.source };
  }

  return { playlist, config };
}
