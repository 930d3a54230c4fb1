import { readFile } from 'node:fs/promises';
import type { CallAnswer } from '../../client/call.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import { Player } from '../../simulator/player/player.ts';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';

type Screen = CallAnswer<'getScreen'>;

/** A paired TV of the demo. */
export interface DemoTv {
  /** `Aurora Café / Entrance` */
  place: string;
  screenId: string;
  player: Player;
  /** Whether it replaces the TV of an earlier run. */
  isReplacement: boolean;
}

/** The dependencies for pairing TVs of the demo. */
export interface Pairing {
  management: ManagementClient;
  runtime: RuntimeClient;
  clock: Clock;
  random: Random;
  signal: AbortSignal;
  /** Called for each error of a TV. The TV continues. */
  onFailure(place: string, error: unknown): void;
}

interface Place {
  venue: string;
  screen: string;
  deviceInfo: DeviceInfoInput;
}

const fixtures = new URL('../../../fixtures/', import.meta.url);
const readFixture = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(path, fixtures), 'utf8'));

/** Returns the first places of the demo, with the device info of their TVs. */
async function demoPlaces(count: number): Promise<Place[]> {
  const { venues } = (await readFixture('demo.json')) as {
    venues: { name: string; screens: { name: string; device: string }[] }[];
  };
  const places = venues.flatMap((venue) =>
    venue.screens.map((screen) => ({
      venue: venue.name,
      screen: screen.name,
      device: screen.device,
    })),
  );
  const withInfo = places.slice(0, count).map(async ({ device, ...place }) => {
    return {
      ...place,
      deviceInfo: (await readFixture(`devices/${device}.json`)) as DeviceInfoInput,
    };
  });
  return Promise.all(withInfo);
}

async function findScreen(
  { management, signal }: Pairing,
  { venue, screen }: Place,
): Promise<Screen | undefined> {
  const venues = await management.call('listVenues', { query: { name: venue }, signal });
  const venueId = venues.items[0]?.id;
  if (venueId === undefined) return undefined;
  return (await management.call('listScreens', { query: { venueId, name: screen }, signal }))
    .items[0];
}

/**
 * Makes the screen free, and returns whether it is. Revokes the TV of an earlier run, whose key was
 * only in memory. Leaves any other TV alone.
 */
async function freeScreen(
  { management, signal }: Pairing,
  screen: Screen,
  deviceInfo: DeviceInfoInput,
): Promise<boolean> {
  if (screen.deviceId === null) return true;
  const device = await management.call('getDevice', { params: { id: screen.deviceId }, signal });
  if (
    device.deviceInfo.macAddress !== deviceInfo.macAddress ||
    device.deviceInfo.model !== deviceInfo.model
  )
    return false;
  await management.call('revokeDevice', {
    params: { id: device.id },
    body: { reason: 'The demo was started again.' },
    signal,
  });
  return true;
}

/** Pairs a TV: creates a code, as an installer does, and registers with it, as a TV does. */
async function pairTv(
  pairing: Pairing,
  screen: Screen,
  { venue, screen: screenName, deviceInfo }: Place,
): Promise<DemoTv> {
  const { management, runtime, clock, random, signal } = pairing;
  const place = `${venue} / ${screenName}`;
  const observer = { onFailure: (error: unknown) => pairing.onFailure(place, error) };
  const player = new Player({
    client: runtime,
    deviceInfo,
    clock,
    random,
    observer,
    reportAfterSeconds: 0,
  });
  const { code } = await management.call('createCode', { body: { screenId: screen.id }, signal });
  await player.register(code);
  return { place, screenId: screen.id, player, isReplacement: screen.deviceId !== null };
}

/**
 * Pairs up to `count` simulated TVs with screens of the demo, which it finds by name. Does not
 * touch screens with other TVs, or any other records.
 */
export async function pairDemoTvs(pairing: Pairing, count: number): Promise<DemoTv[]> {
  const tvs: DemoTv[] = [];
  for (const place of await demoPlaces(count)) {
    const screen = await findScreen(pairing, place);
    if (!screen || !(await freeScreen(pairing, screen, place.deviceInfo))) continue;
    tvs.push(await pairTv(pairing, screen, place));
  }
  return tvs;
}
