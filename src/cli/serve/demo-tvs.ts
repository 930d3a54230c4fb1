import { readFile } from 'node:fs/promises';
import type { CallAnswer } from '../../client/call.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { Player } from '../../simulator/player/player.ts';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
import { readDeviceProfile } from '../simulate/fixtures.ts';
import type { Simulation } from './simulated-tvs.ts';

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

/** The demo, and a client for the tenant that has its screens. */
export interface Demo extends Simulation {
  management: ManagementClient;
}

interface Place {
  venue: string;
  screen: string;
  deviceInfo: DeviceInfoInput;
}

const demoFile = new URL('../../../fixtures/demo.json', import.meta.url);

/** Returns the first places of the demo, with the device info of their TVs. */
async function demoPlaces(count: number): Promise<Place[]> {
  const { venues } = JSON.parse(await readFile(demoFile, 'utf8')) as {
    venues: { name: string; screens: { name: string; device: string }[] }[];
  };
  const places = venues.flatMap(({ name: venue, screens }) =>
    screens.map(({ name: screen, device }) => ({ venue, screen, device })),
  );
  const withInfo = places.slice(0, count).map(async ({ device, ...place }) => ({
    ...place,
    deviceInfo: await readDeviceProfile(device, 'The device of the demo'),
  }));
  return Promise.all(withInfo);
}

async function findScreen(
  { management, interrupted: signal }: Demo,
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
  { management, interrupted: signal }: Demo,
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
  { management, url, clock, random, log, interrupted: signal }: Demo,
  screen: Screen,
  { venue, screen: screenName, deviceInfo }: Place,
): Promise<DemoTv> {
  const place = `${venue} / ${screenName}`;
  const onFailure = (err: unknown) =>
    log.warn({ err }, `The simulated TV of ${place} had an error.`);
  const player = new Player({
    client: new RuntimeClient({ url, clock, random }),
    deviceInfo,
    clock,
    random,
    observer: { onFailure },
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
export async function pairDemoTvs(demo: Demo, count: number): Promise<DemoTv[]> {
  const tvs: DemoTv[] = [];
  for (const place of await demoPlaces(count)) {
    const screen = await findScreen(demo, place);
    if (!screen || !(await freeScreen(demo, screen, place.deviceInfo))) continue;
    tvs.push(await pairTv(demo, screen, place));
  }
  return tvs;
}
