import { BoundedMap } from '../../domain/bounded-map.ts';
import { type Clock, minuteMs, type Random } from '../../domain/clock.ts';
import { makeIdSource } from '../../domain/id.ts';
import type { LogSink } from '../../domain/log.ts';
import type { WebhookSender } from '../../network/webhook-sender.ts';
import type {
  ConfigCopies,
  OnDemandOrigin,
  OriginHealth,
  PlaylistChain,
} from '../../origin/origin.ts';
import type { Reader, Store } from '../../store/store.ts';
import { withAuthority } from '../auth/authority.ts';
import { makeDenials } from '../auth/denials.ts';
import { makeDeviceAuth } from '../auth/device-auth.ts';
import { makeKeyCheck } from '../auth/device-keys.ts';
import { makeKeyRotation } from '../auth/key-rotation.ts';
import { makeManagementAuth } from '../auth/management-auth.ts';
import { makeOfflineKeys } from '../auth/offline-keys.ts';
import { makeTokenRotation } from '../auth/token-rotation.ts';
import { makeTokens } from '../auth/tokens.ts';
import { makeBackups } from '../backups.ts';
import type { Principal, SystemDependencies, TenantPrincipal } from '../context.ts';
import { makeTelemetry } from '../events/telemetry.ts';
import { type LockOut, makeGuessRateLimit } from '../guesses/rate-limit.ts';
import { makeTrustedSources } from '../guesses/trusted-sources.ts';
import { makeLoginApprovals } from '../logins/login-approvals.ts';
import { makeLogins } from '../logins/logins.ts';
import { type LookupKind, lookUp } from '../lookup.ts';
import { makeMedia } from '../media/media.ts';
import { makeMediaUsage } from '../media/media-records.ts';
import { type MediaOptions, makeMediaUploads } from '../media/media-uploads.ts';
import { makeMirrorAdmin } from '../mirror/admin.ts';
import type { Mirror } from '../mirror/mirror.ts';
import { NoticeFigures } from '../notices/notice-figures.ts';
import { makeNoticeLog } from '../notices/notice-log.ts';
import { makeNotices } from '../notices/notices.ts';
import { ScreenWatch } from '../notices/screen-watch.ts';
import type { ObservedStore } from '../observed-store.ts';
import { makeClaimOffers } from '../pairing/claim-offers.ts';
import { makeClaims } from '../pairing/claims.ts';
import { makeCodes } from '../pairing/codes.ts';
import { makeDevices } from '../pairing/devices.ts';
import { makeRegistration } from '../pairing/registration.ts';
import { makeTickets } from '../pairing/tickets.ts';
import { makeConfigs } from '../places/configs.ts';
import { makeScreens } from '../places/screens.ts';
import { makeTenants } from '../places/tenants.ts';
import { makeVenues } from '../places/venues.ts';
import { makeCoverage } from '../planned/coverage.ts';
import { makeDeviceAnswers } from '../playlists/device-answers.ts';
import { makeDeviceChanges } from '../playlists/device-changes.ts';
import { makePlaylists } from '../playlists/playlists.ts';
import { makePublications } from '../playlists/publications.ts';
import { makePlaylistRefresh } from '../playlists/refresh.ts';
import type { ServedVersions } from '../playlists/served-versions.ts';
import { makeCampaigns } from '../reports/campaigns.ts';
import { makeReading } from '../reports/reading.ts';
import { makeTvRequests } from '../requests/request-log.ts';
import { makeLayerDelivery } from '../schedules/layer-delivery.ts';
import { makeSchedules } from '../schedules/schedules.ts';
import { makeTakeovers } from '../schedules/takeovers.ts';
import { makeSignals } from '../signals.ts';
import type { StatementOptions } from '../statements/statement-key.ts';
import { makeStatements } from '../statements/statements.ts';
import { makeExplain } from '../status/explain.ts';
import { makeScreenStatus } from '../status/screen-status.ts';
import { PlaylistQuota } from '../versions/playlist-quota.ts';
import { makeWebhookDeliveries } from '../webhooks/deliveries.ts';
import { makeWebhooks } from '../webhooks/webhooks.ts';
import { makeHealth, makeReadiness } from './health.ts';

export interface ServiceOptions {
  store: Store;
  /** Reports the changes of the store. Needed for `authGraceMs`. */
  onChange?: ObservedStore['onChange'] | undefined;
  clock: Clock;
  random: Random;
  /** The playlist origins and their health. */
  origins: {
    ask: PlaylistChain;
    reader: Pick<Reader, 'get'>;
    refresh?: OnDemandOrigin['refresh'] | undefined;
    health(): OriginHealth[];
  };
  /** Tracks served versions. Set if a fallback origin can return outdated playlists. */
  served?: ServedVersions | undefined;
  /** The mirror of playlists, if an object store is configured. */
  mirror?: Mirror | undefined;
  /** Copies of configs in the object store, for `authGraceMs`. */
  configCopies?: ConfigCopies | undefined;
  media: MediaOptions;
  /** What the different playlists and schedules of one tenant may take, in bytes. */
  playlistQuotaBytes: number;
  statements: StatementOptions;
  webhookSender: WebhookSender;
  codeTtlMinutes: number;
  /**
   * Milliseconds for which a verified device key still gives access to playlist and config while
   * the store is unavailable. Default: 0, which gives no such access.
   */
  authGraceMs?: number;
  log: LogSink;
  /** Called when a lock-out begins, either of one source or of all untrusted sources. */
  onLockOut?: (lockOut: LockOut) => void;
  /** Receives the time between a change and the hint to a TV, in milliseconds. */
  onHint?: (ms: number) => void;
}

/** Minimum number of remembered hashes of recently verified credentials. */
const verifiedHashes = 100_000;

/** Creates all modules of the service on one store. */
export function makeServices(options: ServiceOptions) {
  const {
    store,
    onChange,
    clock,
    random,
    origins,
    served,
    mirror,
    configCopies,
    codeTtlMinutes,
    authGraceMs = 0,
    log,
    onLockOut,
  } = options;
  const offlineKeys =
    authGraceMs > 0 && onChange
      ? makeOfflineKeys(store, onChange, { clock, maxAgeMs: authGraceMs })
      : undefined;
  const system: SystemDependencies = { store, clock, random, newId: makeIdSource(clock, random) };
  const deps = withAuthority(system);
  const trustedSources = makeTrustedSources(store, clock);
  const verified = new BoundedMap<string, true>(verifiedHashes);
  const checkKey = makeKeyCheck(system, verified);
  const ready = makeReadiness(store, clock);
  const noticeFigures = new NoticeFigures();
  const noticeLog = makeNoticeLog(store, ({ type }) => noticeFigures.notices[type]++);
  const denials = makeDenials(system);
  const codes = makeCodes(deps, codeTtlMinutes);
  const claimOffers = makeClaimOffers(deps, codes);
  const tokens = makeTokens(deps);
  const loginApprovals = makeLoginApprovals(deps, tokens);
  const quota = new PlaylistQuota(store, options.playlistQuotaBytes);
  const media = makeMedia(deps, options.media.files);
  const campaigns = makeCampaigns(deps);
  const screenStatus = makeScreenStatus(deps);
  const deviceAnswers = makeDeviceAnswers(deps, {
    ask: origins.ask,
    reader: origins.reader,
    delivery: makeLayerDelivery(system, origins.reader),
    served,
    configCopies,
  });
  return {
    deps: system,
    /** Throws `<kind>_not_found` unless the caller may see the record in the path of a request. */
    async checkRecord(
      principal: Principal,
      kind: LookupKind | 'pairing_code' | 'claim' | 'login' | 'media' | 'campaign',
      id: string,
    ): Promise<void> {
      if (kind === 'pairing_code') await codes.lookUp(store.read, principal, id);
      else if (kind === 'claim') await claimOffers.lookUp(principal, id);
      else if (kind === 'login') await loginApprovals.checkKnown(principal, id);
      else if (kind === 'media') await media.lookUp(principal as TenantPrincipal, id);
      else if (kind === 'campaign') await campaigns.get(principal as TenantPrincipal, id);
      else await lookUp(store.read, principal, kind, id);
    },
    denials,
    /** Hashes of recently verified credentials. They affect priority, never authentication. */
    verified,
    managementAuth: makeManagementAuth(system, trustedSources, denials, verified),
    deviceAuth: makeDeviceAuth(system, trustedSources, { verified, checkKey }, offlineKeys),
    register: makeRegistration(
      system,
      makeGuessRateLimit(system, trustedSources, {
        codeTtlMs: codeTtlMinutes * minuteMs,
        onLockOut,
      }),
      trustedSources,
    ),
    rotateKey: makeKeyRotation(deps),
    deviceAnswers,
    deviceChanges: makeDeviceChanges(deps, { deviceAnswers, checkKey, onHint: options.onHint }),
    telemetry: makeTelemetry(deps),
    codes,
    claims: makeClaims(system, trustedSources, codes),
    claimOffers,
    tickets: makeTickets(deps),
    tenants: makeTenants(deps),
    tokens,
    logins: makeLogins(system, trustedSources),
    loginApprovals,
    rotateToken: makeTokenRotation(deps),
    venues: makeVenues(deps),
    screens: makeScreens(deps),
    screenStatus,
    screenWatch: new ScreenWatch(system, screenStatus.judgeAll, noticeFigures),
    devices: makeDevices(deps),
    signals: makeSignals(deps),
    playlists: makePlaylists(deps, quota),
    publishMany: makePublications(deps, quota),
    refreshPlaylist: makePlaylistRefresh(deps, origins.refresh),
    mirror,
    copies: makeMirrorAdmin(deps, mirror),
    configs: makeConfigs(deps),
    schedules: makeSchedules(deps, quota),
    takeovers: makeTakeovers(deps, quota),
    explain: makeExplain(deps),
    media,
    mediaUploads: makeMediaUploads(deps, options.media),
    reading: makeReading(deps),
    coverage: makeCoverage(deps),
    campaigns,
    statements: makeStatements(deps, options.statements),
    noticeFigures,
    noticeLog,
    notices: makeNotices(deps, noticeLog),
    requests: makeTvRequests(deps, log),
    ready,
    mediaUsage: makeMediaUsage(store),
    health: makeHealth(store, ready, origins.health, mirror?.lag),
    backups: makeBackups(deps, options.media.files),
    webhooks: makeWebhooks(deps, options.webhookSender),
    webhookDeliveries: makeWebhookDeliveries(deps, noticeLog),
  };
}

export type Services = ReturnType<typeof makeServices>;
