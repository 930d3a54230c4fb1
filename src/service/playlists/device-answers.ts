import { hash } from 'node:crypto';
import { BoundedMap } from '../../domain/bounded-map.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import {
  etagAt,
  isUnchanged,
  type Precondition,
  servedPlaylistEtag,
} from '../../domain/etags/etag.ts';
import { TwoPartBody } from '../../domain/json/two-part-body.ts';
import { playlistStatusAt, servedValidUntilSeconds } from '../../domain/playlists/playlist.ts';
import type { DeviceChanges } from '../../domain/records/device-changes.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { ChainAnswer, ConfigCopies, OriginName, PlaylistChain } from '../../origin/origin.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import type { Reader } from '../../store/store.ts';
import type { DevicePrincipal, ServiceDependencies } from '../context.ts';
import {
  type ConfigLevels,
  type EffectiveConfig,
  mergeConfigLevels,
  readConfigLevels,
} from '../places/configs.ts';
import type { CurrentDelivery, LayerDelivery } from '../schedules/layer-delivery.ts';
import { hasLayers, readLayers, type ScreenLayers } from '../schedules/layers.ts';
import { cursorWith, type LatestSignals, readSignals } from '../signals.ts';
import type { ServedVersions } from './served-versions.ts';

/** A response for a TV, with its strong ETag. `body` is `null` for 304. */
type RenderedAnswer<B> = { body: B | null; etag: string };

export type PlaylistAnswer = RenderedAnswer<TwoPartBody> & { version: number; source: OriginName };
export type ConfigAnswer = RenderedAnswer<Buffer> & Pick<EffectiveConfig, 'source'>;

/** Reads the stored configs from the mirror copies in the object store. */
function levelsFromCopies(copies: ConfigCopies, device: Device): Promise<ConfigLevels> {
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
    const { config, source } = mergeConfigLevels(levels);
    const bytes = Buffer.from(JSON.stringify(config));
    const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`;
    const rendered = { levels, source, etag, bytes };
    cache.set(key, rendered);
    return rendered;
  };
}

/** Members of items that name a file of the service, as `JSON.stringify` writes them. */
const ownMedia = /"creativeUrl":"(?=\/media\/[0-9a-f]{64}\.)/g;

/** A TV may send any `Host`, so only a few addresses are remembered. */
const maxAddresses = 4;

/** Writes items of playlists with absolute URLs of the service's own files. */
class AbsoluteItems {
  /** By the items that all screens share, and by address. */
  readonly #known = new WeakMap<Buffer, Map<string, Buffer>>();

  of({ head, rest }: TwoPartBody, baseUrl: string): TwoPartBody {
    const byAddress = this.#known.get(rest) ?? new Map<string, Buffer>();
    this.#known.set(rest, byAddress);
    const known = byAddress.get(baseUrl);
    if (known) return new TwoPartBody(head, known);
    const items = Buffer.from(rest.toString().replaceAll(ownMedia, `"creativeUrl":"${baseUrl}`));
    if (byAddress.size >= maxAddresses) byAddress.clear();
    byAddress.set(baseUrl, items);
    return new TwoPartBody(head, items);
  }
}

/** The current playlist and config of a device (docs/protocol.md §2.9). */
export interface CurrentAnswers {
  changes: DeviceChanges;
  /** Time at which the playlist ends or switches, in Unix epoch milliseconds. */
  endsAtMs: number;
}

interface DeviceAnswersOptions {
  /** Asks the origins of playlists. */
  ask: PlaylistChain;
  /** Reads rows. It must not hang while the store is unavailable. */
  reader: Pick<Reader, 'get'>;
  delivery: LayerDelivery;
  served?: Pick<ServedVersions, 'note'> | undefined;
  /** Source of configs while the store is unavailable, if enabled. */
  configCopies?: ConfigCopies | undefined;
}

/** Returns playlist and config to TVs (docs/protocol.md §2.3, §2.4). */
export function makeDeviceAnswers(
  deps: ServiceDependencies,
  { ask, reader, delivery, served, configCopies }: DeviceAnswersOptions,
) {
  const { store, clock } = deps;
  const renderConfig = makeRenderedConfigs();
  const absoluteItems = new AbsoluteItems();

  const layersOfScreen = (screen: Screen): Promise<ScreenLayers> =>
    readLayers(reader, screen).catch(() => ({ own: undefined, venue: undefined }));

  function recordPlaylistStatus(deviceId: string, lastPlaylistStatus: number): void {
    store.touch('device', deviceId, { lastPlaylistAt: clock.now(), lastPlaylistStatus });
  }

  /** Throws `playlist_not_found`, with the names that the TV may show (docs/protocol.md §2.3). */
  async function refuseWithoutPlaylist({ name, venueId }: Screen): Promise<never> {
    const venue = await store.read.get('venues', venueId).catch(() => undefined);
    throw new SignageError('playlist_not_found', 'There is no playlist for this screen yet.', {
      ...(venue && { screen: { name, venue: { name: venue.name } } }),
    });
  }

  async function refuse(
    { device, screen }: DevicePrincipal,
    answer: Exclude<ChainAnswer, { kind: 'playlist' }>,
  ): Promise<never> {
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
  async function playlist(
    principal: DevicePrincipal,
    precondition: Precondition,
    baseUrl: string,
  ): Promise<PlaylistAnswer> {
    const { device, screen } = principal;
    const [layers, base] = await Promise.all([layersOfScreen(screen), ask(screen)]);
    const answer = hasLayers(layers, store.now())
      ? await delivery.above(screen, layers, base)
      : base;
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
  }

  async function storedLevels(device: Device): Promise<ConfigLevels> {
    try {
      return await readConfigLevels(device, (id) => store.read.get('configs', id));
    } catch (error) {
      if (configCopies && hasCode(error, 'unavailable'))
        return levelsFromCopies(configCopies, device);
      throw error;
    }
  }

  /** Throws `config_fetch_failed`. */
  async function configLevels(device: Device): Promise<ConfigLevels> {
    try {
      return await storedLevels(device);
    } catch (cause) {
      const message =
        'The config cannot be fetched right now: keep the current one, and try again.';
      throw new SignageError('config_fetch_failed', message, { cause, retryAfterSeconds: 5 });
    }
  }

  /** Returns the config. Throws `config_fetch_failed` or `precondition_failed`. */
  async function config(
    { device }: DevicePrincipal,
    precondition: Precondition,
  ): Promise<ConfigAnswer> {
    const { source, etag, bytes } = renderConfig(await configLevels(device));
    const isCurrent = isUnchanged(precondition, etag);
    store.touch('device', device.id, { lastConfigAt: clock.now() });
    return { body: isCurrent ? null : bytes, etag, source };
  }

  /** Returns the playlist of a screen without layers. */
  function plain(row: PlaylistSummary | undefined, nowMs: number): CurrentDelivery {
    if (!row) return { playlist: undefined, endsAtMs: Number.POSITIVE_INFINITY };
    const { version, hasMedia, validUntil } = row;
    const etag = servedPlaylistEtag(row, servedValidUntilSeconds(row, nowMs));
    return {
      playlist: { version, hasMedia, etag },
      endsAtMs: validUntil ?? Number.POSITIVE_INFINITY,
    };
  }

  async function currentDelivery(screen: Screen): Promise<CurrentDelivery> {
    const [layers, row] = await Promise.all([
      layersOfScreen(screen),
      store.playlistSummary(screen.id),
    ]);
    const nowMs = store.now();
    const active = row && playlistStatusAt(row, nowMs) === 'active' ? row : undefined;
    return hasLayers(layers, nowMs)
      ? delivery.current(screen, layers, active)
      : plain(active, nowMs);
  }

  /** Returns the members of an answer about what the TV should do now. */
  async function signalMembers(
    { name, venueId }: Screen,
    { identify, reload }: LatestSignals,
  ): Promise<Pick<DeviceChanges, 'identifyUntil' | 'screen' | 'reloadId'>> {
    const isIdentified = identify !== undefined && identify.until > store.now();
    const venue = isIdentified ? await store.read.get('venues', venueId) : undefined;
    return {
      ...(isIdentified && { identifyUntil: identify.until / secondMs }),
      ...(venue && { screen: { name, venue: { name: venue.name } } }),
      ...(reload && { reloadId: reload.id }),
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

  /**
   * Returns the current playlist and config of the device, and what it should do now. Does not call
   * the on-demand source.
   *
   * @param after the cursor that the TV has
   */
  async function current(
    { device, screen }: Pick<DevicePrincipal, 'device' | 'screen'>,
    baseUrl: string,
    after?: string,
  ): Promise<CurrentAnswers> {
    const [delivered, levels, signals] = await Promise.all([
      currentDelivery(screen),
      configLevels(device),
      readSignals(store.read, screen, store.now()),
    ]);
    const { changes, endsAtMs } = currentAnswers(delivered, levels, baseUrl);
    const cursor = cursorWith(changes.cursor, signals, after);
    const members = await signalMembers(screen, signals);
    return { changes: { ...changes, ...members, cursor }, endsAtMs };
  }

  return { playlist, config, current };
}

export type DeviceAnswers = ReturnType<typeof makeDeviceAnswers>;
