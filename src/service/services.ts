import type { Clock, Random } from '../domain/clock.ts';
import { makeIdSource } from '../domain/id.ts';
import type { PlaylistChain } from '../origin/origin.ts';
import type { Store } from '../store/store.ts';
import { makeCodes } from './codes.ts';
import { makeConfigs } from './configs.ts';
import type { Caller, Kit } from './context.ts';
import { makeDeviceAuth } from './device-auth.ts';
import { makeDevices } from './devices.ts';
import { makeGuessLimit } from './guess-limit.ts';
import { lookUp, type RecordKind } from './lookup.ts';
import { makeManagementAuth } from './management-auth.ts';
import { makePlayback } from './playback.ts';
import { makePlaylists } from './playlists.ts';
import { makeReading } from './reading.ts';
import { makeRegistration } from './registration.ts';
import { makeScreens } from './screens.ts';
import { makeTelemetry } from './telemetry.ts';
import { makeTenants } from './tenants.ts';
import { makeTokens } from './tokens.ts';
import { makeTrust } from './trust.ts';
import { makeVenues } from './venues.ts';

export interface ServiceOptions {
  store: Store;
  clock: Clock;
  random: Random;
  /** Where playlists come from. */
  askOrigins: PlaylistChain;
  codeTtlMinutes: number;
  /** Called when a source begins to be refused for guessing codes. */
  onLockOut?: (source: string) => void;
}

/** All subjects of the service on one store. */
export function makeServices({ store, clock, random, askOrigins, codeTtlMinutes, onLockOut }: ServiceOptions) {
  const kit: Kit = { store, clock, random, newId: makeIdSource(clock, random) };
  const trust = makeTrust(clock);
  const codes = makeCodes(kit, codeTtlMinutes);
  return {
    kit,
    /** Whether the caller may know of the record that a path names; throws `<kind>_not_found`. */
    async checkRecord(caller: Caller, kind: RecordKind | 'pairing_code', id: string): Promise<void> {
      await (kind === 'pairing_code' ? codes.lookUp(store.read, caller, id) : lookUp(store.read, caller, kind, id));
    },
    managementAuth: makeManagementAuth(kit, trust),
    deviceAuth: makeDeviceAuth(kit, trust),
    register: makeRegistration(kit, makeGuessLimit(clock, trust, onLockOut), trust),
    playback: makePlayback(kit, askOrigins),
    telemetry: makeTelemetry(kit),
    codes,
    tenants: makeTenants(kit),
    tokens: makeTokens(kit),
    venues: makeVenues(kit),
    screens: makeScreens(kit),
    devices: makeDevices(kit),
    playlists: makePlaylists(kit),
    configs: makeConfigs(kit),
    reading: makeReading(kit),
  };
}

export type Services = ReturnType<typeof makeServices>;
