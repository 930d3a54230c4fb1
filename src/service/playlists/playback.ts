import { hash } from 'node:crypto';
import { hasCode, SignageError } from '../../domain/error.ts';
import { isUnchanged, type Precondition, servedPlaylistEtag } from '../../domain/etag.ts';
import { andThen, type MaybePromise, orElse } from '../../domain/maybe-promise.ts';
import { servedValidUntil } from '../../domain/records/playlist.ts';
import type { Device, Playlist } from '../../domain/records/rows.ts';
import type { ChainAnswer, ConfigCopies, OriginName, PlaylistChain } from '../../origin/origin.ts';
import type { DeviceCaller, ServiceDependencies } from '../context.ts';
import { type EffectiveConfig, mergeConfigs, readEffectiveConfig } from '../places/configs.ts';
import type { ServedVersions } from './served-versions.ts';

/** A response for a TV, with its strong ETag. `body` is `null` for 304. */
type RenderedAnswer = { body: Buffer | null; etag: string };

export type PlaylistAnswer = RenderedAnswer & { version: number; source: OriginName };
export type ConfigAnswer = RenderedAnswer & Pick<EffectiveConfig, 'source'>;

/** Returns the effective config from the mirror copies in the object store. */
function configFromCopies(copies: ConfigCopies, device: Device): MaybePromise<EffectiveConfig> {
  return mergeConfigs(device, async (id) => {
    const copy = await copies.read({ id, tenantId: device.tenantId });
    if (copy && !copy.row)
      throw new SignageError(
        'origin_bad_answer',
        `The mirror copy of the config ${id} is damaged.`,
      );
    return copy?.row;
  });
}

/** A playlist as sent to TVs, with its strong ETag. */
interface RenderedPlaylist {
  etag: string;
  bytes: Buffer;
}

/** Members of a row that determine the rendered body, besides the screen. */
type Identity = Pick<Playlist, 'playlistId' | 'version' | 'publishedAt'>;
type CacheEntry = RenderedPlaylist & Identity & { validUntil: number };

/**
 * Memory for playlists of 10,000 TVs with ten items each. In a larger fleet, the oldest entries are
 * evicted.
 */
const defaultLimitBytes = 32 * 1024 * 1024;

function render(row: Playlist, validUntil: number): CacheEntry {
  const { playlistId, tenantId, screenId, version, publishedAt, items } = row;
  const status = 'active';
  const head = { id: playlistId, tenantId, screenId, status, version, validUntil };
  return {
    playlistId,
    version,
    publishedAt,
    validUntil,
    etag: servedPlaylistEtag(row, validUntil),
    bytes: Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":${items}}`),
  };
}

const isOf = (row: Playlist, { playlistId, version, publishedAt }: Identity) =>
  row.playlistId === playlistId && row.version === version && row.publishedAt === publishedAt;

/**
 * Renders playlists, and caches the latest one of each screen. `validUntil` is in Unix epoch
 * seconds.
 *
 * @param limitBytes limit of the cache; the oldest entries are evicted
 */
export function makeRenderedPlaylists(limitBytes = defaultLimitBytes) {
  const cache = new Map<string, CacheEntry>();
  let totalBytes = 0;

  function evict(screenId: string): void {
    totalBytes -= cache.get(screenId)?.bytes.length ?? 0;
    cache.delete(screenId);
  }

  return (row: Playlist, validUntil: number): RenderedPlaylist => {
    const cached = cache.get(row.screenId);
    if (cached && cached.validUntil === validUntil && isOf(row, cached)) return cached;
    evict(row.screenId);
    const rendered = render(row, validUntil);
    cache.set(row.screenId, rendered);
    totalBytes += rendered.bytes.length;
    for (const oldest of cache.keys()) {
      if (totalBytes <= limitBytes) break;
      evict(oldest);
    }
    return rendered;
  };
}

interface PlaybackOptions {
  ask: PlaylistChain;
  served?: Pick<ServedVersions, 'note'> | undefined;
  /** Source of configs while the store is unavailable, if enabled. */
  configCopies?: ConfigCopies | undefined;
}

/** Returns playlist and config to TVs (docs/protocol.md §2.3, §2.4). */
export function makePlayback(
  deps: ServiceDependencies,
  { ask: askOrigins, served, configCopies }: PlaybackOptions,
) {
  const { store, clock } = deps;
  const render = makeRenderedPlaylists();

  function recordPlaylistStatus(deviceId: string, lastPlaylistStatus: number): void {
    store.touch('device', deviceId, { lastPlaylistAt: clock.now(), lastPlaylistStatus });
  }

  function rejection(
    deviceId: string,
    answer: Exclude<ChainAnswer, { kind: 'playlist' }>,
  ): SignageError {
    const hasFailed = answer.kind === 'failed';
    recordPlaylistStatus(deviceId, hasFailed ? 500 : 404);
    if (!hasFailed)
      return new SignageError('playlist_not_found', 'There is no playlist for this screen yet.');
    return new SignageError(
      'playlist_fetch_failed',
      'The playlist cannot be fetched right now: play on, and try again.',
      {
        cause: answer.cause,
        retryAfterSeconds: 5,
      },
    );
  }

  /** Throws `playlist_not_found`, `playlist_fetch_failed`, `precondition_failed`. */
  function playlist(
    { device, screen }: DeviceCaller,
    precondition: Precondition,
  ): MaybePromise<PlaylistAnswer> {
    return andThen(askOrigins(screen), (answer) => {
      if (answer.kind !== 'playlist') throw rejection(device.id, answer);
      const { playlist: row, source } = answer;
      const { version } = row;
      const nowMs = clock.now();
      const { etag, bytes } = render(row, Math.floor(servedValidUntil(row, nowMs) / 1000));
      const isCurrent = isUnchanged(precondition, etag);
      store.touch('device', device.id, {
        lastPlaylistAt: nowMs,
        lastPlaylistStatus: isCurrent ? 304 : 200,
        lastPlaylistVersion: version,
      });
      served?.note(screen.id, version);
      return { body: isCurrent ? null : bytes, etag, version, source };
    });
  }

  function configOf(device: Device): MaybePromise<EffectiveConfig> {
    return orElse(
      () => readEffectiveConfig(store.read, device),
      (error) => {
        if (configCopies && hasCode(error, 'unavailable'))
          return configFromCopies(configCopies, device);
        throw error;
      },
    );
  }

  function throwConfigFailure(cause: unknown): never {
    const message = 'The config cannot be fetched right now: keep the one you have, and try again.';
    throw new SignageError('config_fetch_failed', message, { cause, retryAfterSeconds: 5 });
  }

  /** Throws `config_fetch_failed`, `precondition_failed`. */
  function config(
    { device }: DeviceCaller,
    precondition: Precondition,
  ): MaybePromise<ConfigAnswer> {
    return andThen(
      orElse(() => configOf(device), throwConfigFailure),
      (effective) => {
        const body = Buffer.from(JSON.stringify(effective.config));
        const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
        const isCurrent = isUnchanged(precondition, etag);
        store.touch('device', device.id, { lastConfigAt: clock.now() });
        return {
          body: isCurrent ? null : body,
          etag,
          source: effective.source,
        };
      },
    );
  }

  return { playlist, config };
}
