import { type Clock, minuteMs, type Random } from '../domain/clock.ts';
import { makeIdSource } from '../domain/id.ts';
import { KnownHashes } from '../domain/known-hashes.ts';
import type {
  ConfigCopies,
  OriginHealth,
  PlaylistChain,
  PlaylistCopies,
} from '../origin/origin.ts';
import type { Store } from '../store/store.ts';
import { withAuthority } from './auth/authority.ts';
import { makeDenials } from './auth/denials.ts';
import { makeDeviceAuth } from './auth/device-auth.ts';
import { makeKeyRotation } from './auth/key-rotation.ts';
import { makeManagementAuth } from './auth/management-auth.ts';
import { makeOfflineKeys } from './auth/offline-keys.ts';
import { makeTokens } from './auth/tokens.ts';
import { makeBackups } from './backups.ts';
import type { Caller, SystemDependencies } from './context.ts';
import { makeHealth, makeReadiness } from './health.ts';
import { lookUp, type RecordKind } from './lookup.ts';
import { makeMirrorAdmin } from './mirror/admin.ts';
import type { MirrorLag } from './mirror/mirror.ts';
import { makeCodes } from './pairing/codes.ts';
import { makeDevices } from './pairing/devices.ts';
import { type LockOut, makeGuessRateLimit } from './pairing/rate-limit.ts';
import { makeRegistration } from './pairing/registration.ts';
import { makeTrustedSources } from './pairing/trusted-sources.ts';
import { makeConfigs } from './places/configs.ts';
import { makeScreens } from './places/screens.ts';
import { makeTenants } from './places/tenants.ts';
import { makeVenues } from './places/venues.ts';
import { makePlayback } from './playlists/playback.ts';
import { makePlaylists } from './playlists/playlists.ts';
import type { ServedVersions } from './playlists/served-versions.ts';
import { makeReportsAndAudit } from './reports.ts';
import { makeTelemetry } from './telemetry.ts';

export interface ServiceOptions {
  store: Store;
  clock: Clock;
  random: Random;
  /** Where playlists come from, and how these places fare. */
  origins: { ask: PlaylistChain; health(): OriginHealth[] };
  /** Kept where a fallback could be older than what was served. */
  served?: ServedVersions | undefined;
  /** The copies of playlists in the object store, if there is one. */
  copies?: PlaylistCopies | undefined;
  /** The copies of configs there. */
  configCopies?: ConfigCopies | undefined;
  /** How far they lag behind. */
  lag?: (() => MirrorLag) | undefined;
  codeTtlMinutes: number;
  /** For how long a verified device key is good for playlist and config while the store cannot be asked; 0: not at all. */
  authGraceMs?: number;
  /** Called when a source, or all that are not trusted, begin to be refused for guessing codes. */
  onLockOut?: (lockOut: LockOut) => void;
}

/** All subjects of the service on one store. */
export function makeServices(options: ServiceOptions) {
  const {
    clock,
    random,
    origins,
    served,
    copies,
    configCopies,
    lag,
    codeTtlMinutes,
    authGraceMs = 0,
    onLockOut,
  } = options;
  const grace = authGraceMs > 0 ? makeOfflineKeys(options.store, clock, authGraceMs) : undefined;
  const store = grace?.store ?? options.store;
  const system: SystemDependencies = { store, clock, random, newId: makeIdSource(clock, random) };
  const deps = withAuthority(system);
  const trust = makeTrustedSources(store, clock);
  const known = new KnownHashes();
  const ready = makeReadiness(store, clock);
  const denials = makeDenials(system);
  const codes = makeCodes(deps, codeTtlMinutes);
  return {
    deps: system,
    /** Whether the caller may know of the record that a path names; throws `<kind>_not_found`. */
    async checkRecord(
      caller: Caller,
      kind: RecordKind | 'pairing_code',
      id: string,
    ): Promise<void> {
      await (kind === 'pairing_code'
        ? codes.lookUp(store.read, caller, id)
        : lookUp(store.read, caller, kind, id));
    },
    denials,
    /** The hashes of credentials that worked lately, for what is to be decided before one is looked up. */
    known,
    managementAuth: makeManagementAuth(system, trust, denials, known),
    deviceAuth: makeDeviceAuth(system, trust, known, grace),
    register: makeRegistration(
      system,
      makeGuessRateLimit(system, trust, { codeTtlMs: codeTtlMinutes * minuteMs, onLockOut }),
      trust,
    ),
    rotateKey: makeKeyRotation(deps),
    playback: makePlayback(deps, { ask: origins.ask, served, configCopies: grace && configCopies }),
    telemetry: makeTelemetry(deps),
    codes,
    tenants: makeTenants(deps),
    tokens: makeTokens(deps),
    venues: makeVenues(deps),
    screens: makeScreens(deps),
    devices: makeDevices(deps),
    playlists: makePlaylists(deps),
    copies: makeMirrorAdmin(deps, copies),
    configs: makeConfigs(deps),
    reading: makeReportsAndAudit(deps),
    ready,
    health: makeHealth(ready, origins.health, lag),
    backups: makeBackups(deps),
  };
}

export type Services = ReturnType<typeof makeServices>;
