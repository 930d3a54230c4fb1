import { hash } from 'node:crypto';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { etagAt, isUnchanged, type Precondition, servedPlaylistEtag } from '../../domain/etag.ts';
import type { TwoPartBody } from '../../domain/json/two-part-body.ts';
import { allOf, andThen, type MaybePromise, orElse } from '../../domain/maybe-promise.ts';
import { playlistStatusAt, servedValidUntilSeconds } from '../../domain/playlists/playlist.ts';
import type { DeviceChanges } from '../../domain/records/device-changes.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { ChainAnswer, ConfigCopies, OriginName } from '../../origin/origin.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import type { DevicePrincipal, ServiceDependencies } from '../context.ts';
import {
  type ConfigLevels,
  type EffectiveConfig,
  mergeConfigs,
  readConfigLevels,
} from '../places/configs.ts';
import type { CurrentDelivery, Delivery } from '../schedules/delivery.ts';
import { AbsoluteItems } from './absolute-items.ts';
import type { ServedVersions } from './served-versions.ts';

/** A response for a TV, with its strong ETag. `body` is `null` for 304. */
type RenderedAnswer<B> = { body: B | null; etag: string };

export type PlaylistAnswer = RenderedAnswer<TwoPartBody> & { version: number; source: OriginName };
export type ConfigAnswer = RenderedAnswer<Buffer> & Pick<EffectiveConfig, 'source'>;

/** Reads the stored configs from the mirror copies in the object store. */
function levelsFromCopies(copies: ConfigCopies, device: Device): MaybePromise<ConfigLevels> {
  return readConfigLevels(device, async (id) => {
    const copy = await copies.read({ id, tenantId: device.tenantId });
    if (copy && !copy.row)
      throw new SignageError(
        'origin_bad_answer',
        `The mirror copy of the config ${id} is damaged.`,
      );
    return copy?.row;
  });
}

interface RenderedConfig {
  levels: ConfigLevels;
  source: EffectiveConfig['source'];
  etag: string;
  bytes: Buffer;
}

/**
 * Returns a function that renders the effective config. It caches the result by the most specific
 * stored config, which determines the other levels. The cache only works with the embedded store,
 * because that store returns the same row objects each time.
 */
function makeRenderedConfigs(): (levels: ConfigLevels) => RenderedConfig {
  const cache = new BoundedMap<string, RenderedConfig>(10_000);
  return (levels) => {
    const key = (levels[2] ?? levels[1] ?? levels[0])?.id ?? '';
    const cached = cache.get(key);
    if (cached?.levels.every((row, level) => row === levels[level])) return cached;
    const { config, source } = mergeConfigs(levels);
    const bytes = Buffer.from(JSON.stringify(config));
    const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
    const rendered = { levels, source, etag, bytes };
    cache.set(key, rendered);
    return rendered;
  };
}

/** The current playlist and config of a device (docs/protocol.md §2.9). */
export interface CurrentAnswers {
  changes: DeviceChanges;
  /** Time at which the playlist ends or switches, in Unix epoch milliseconds. */
  endsAtMs: number;
}

interface PlaybackOptions {
  delivery: Delivery;
  served?: Pick<ServedVersions, 'note'> | undefined;
  /** Source of configs while the store is unavailable, if enabled. */
  configCopies?: ConfigCopies | undefined;
}

/** Returns playlist and config to TVs (docs/protocol.md §2.3, §2.4). */
export function makePlayback(
  deps: ServiceDependencies,
  { delivery, served, configCopies }: PlaybackOptions,
) {
  const { store, clock } = deps;
  const renderConfig = makeRenderedConfigs();
  const absoluteItems = new AbsoluteItems();

  function recordPlaylistStatus(deviceId: string, lastPlaylistStatus: number): void {
    store.touch('device', deviceId, { lastPlaylistAt: clock.now(), lastPlaylistStatus });
  }

  /** Throws `playlist_not_found`, with the names that the TV may show (docs/protocol.md §2.3). */
  function refuseWithoutPlaylist({ name, venueId }: Screen): MaybePromise<never> {
    const detail = 'There is no playlist for this screen yet.';
    const readVenue = orElse(
      () => store.read.get('venues', venueId),
      () => undefined,
    );
    return andThen(readVenue, (venue) => {
      throw new SignageError('playlist_not_found', detail, {
        ...(venue && { screen: { name, venue: { name: venue.name } } }),
      });
    });
  }

  function refuse(
    { device, screen }: DevicePrincipal,
    answer: Exclude<ChainAnswer, { kind: 'playlist' }>,
  ): MaybePromise<never> {
    const hasFailed = answer.kind === 'failed';
    recordPlaylistStatus(device.id, hasFailed ? 500 : 404);
    if (!hasFailed) return refuseWithoutPlaylist(screen);
    throw new SignageError(
      'playlist_fetch_failed',
      'The playlist cannot be fetched right now: play on, and try again.',
      {
        cause: answer.cause,
        retryAfterSeconds: 5,
      },
    );
  }

  /**
   * Returns the playlist. Throws `playlist_not_found`, `playlist_fetch_failed` or
   * `precondition_failed`.
   *
   * @param baseUrl the address at which the TV reaches the service
   */
  function playlist(
    principal: DevicePrincipal,
    precondition: Precondition,
    baseUrl: string,
  ): MaybePromise<PlaylistAnswer> {
    const { device, screen } = principal;
    return andThen(delivery.ask(screen), (answer): MaybePromise<PlaylistAnswer> => {
      if (answer.kind !== 'playlist') return refuse(principal, answer);
      const { playlist, source } = answer;
      const { version, hasMedia } = playlist;
      const etag = hasMedia ? etagAt(playlist.etag, baseUrl) : playlist.etag;
      const isCurrent = isUnchanged(precondition, etag);
      store.touch('device', device.id, {
        lastPlaylistAt: clock.now(),
        lastPlaylistStatus: isCurrent ? 304 : 200,
        lastPlaylistVersion: version,
      });
      served?.note(screen.id, version);
      if (isCurrent) return { body: null, etag, version, source };
      const body = hasMedia ? absoluteItems.of(playlist.body, baseUrl) : playlist.body;
      return { body, etag, version, source };
    });
  }

  function configLevels(device: Device): MaybePromise<ConfigLevels> {
    return orElse(
      () => readConfigLevels(device, (id) => store.read.get('configs', id)),
      (error) => {
        if (configCopies && hasCode(error, 'unavailable'))
          return levelsFromCopies(configCopies, device);
        throw error;
      },
    );
  }

  function throwConfigFailure(cause: unknown): never {
    const message = 'The config cannot be fetched right now: keep the current one, and try again.';
    throw new SignageError('config_fetch_failed', message, { cause, retryAfterSeconds: 5 });
  }

  /** Returns the config. Throws `config_fetch_failed` or `precondition_failed`. */
  function config(
    { device }: DevicePrincipal,
    precondition: Precondition,
  ): MaybePromise<ConfigAnswer> {
    return andThen(
      orElse(() => configLevels(device), throwConfigFailure),
      (levels) => {
        const { source, etag, bytes } = renderConfig(levels);
        const isCurrent = isUnchanged(precondition, etag);
        store.touch('device', device.id, { lastConfigAt: clock.now() });
        return { body: isCurrent ? null : bytes, etag, source };
      },
    );
  }

  /** Returns the playlist of a screen without layers. */
  function plain(row: PlaylistSummary | undefined): CurrentDelivery {
    const nowMs = clock.now();
    const isActive = row && playlistStatusAt(row, nowMs) === 'active';
    if (!isActive) return { playlist: undefined, endsAtMs: Number.POSITIVE_INFINITY };
    const { version, hasMedia, validUntil } = row;
    const etag = servedPlaylistEtag(row, servedValidUntilSeconds(row, nowMs));
    return {
      playlist: { version, hasMedia, etag },
      endsAtMs: validUntil ?? Number.POSITIVE_INFINITY,
    };
  }

  function currentAnswers(
    { playlist, endsAtMs }: CurrentDelivery,
    levels: ConfigLevels,
    baseUrl: string,
  ): CurrentAnswers {
    const shown = playlist && {
      version: playlist.version,
      etag: playlist.hasMedia ? etagAt(playlist.etag, baseUrl) : playlist.etag,
    };
    const { etag } = renderConfig(levels);
    const cursor = hash('sha256', `${shown?.etag ?? ''}|${etag}`, 'base64url').slice(0, 22);
    return { changes: { cursor, playlist: shown ?? null, config: { etag } }, endsAtMs };
  }

  /** Returns the current playlist and config of the device. Does not call the on-demand source. */
  function current(
    { device, screen }: Pick<DevicePrincipal, 'device' | 'screen'>,
    baseUrl: string,
  ): MaybePromise<CurrentAnswers> {
    const delivered = andThen(store.playlistSummary(screen.id), (row) =>
      andThen(delivery.current(screen, row), (layered) => layered ?? plain(row)),
    );
    const levels = orElse(() => configLevels(device), throwConfigFailure);
    return andThen(allOf([delivered, levels]), ([now, rows]) => currentAnswers(now, rows, baseUrl));
  }

  return { playlist, config, current };
}

export type Playback = ReturnType<typeof makePlayback>;
