import { posix } from 'node:path';
import { readAsset } from '../../assets.ts';
import type { CallAnswer } from '../../client/call.ts';
import type { DeviceInfoInput } from '../../client/entities.ts';
import { ManagementClient } from '../../client/management-client.ts';
import { pause } from '../../client/pause.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import { Player } from '../../player/player.ts';
import { readDeviceProfile } from '../simulate/fixtures.ts';
import { escapeControl } from '../terminal/escape.ts';
import { type BrowserOffer, type Demo, offerCode, renewOffer } from './browser-offer.ts';
import { oldestTenant, type Simulation } from './simulated-tvs.ts';

const tvCount = 3;

type Screen = CallAnswer<'getScreen'>;

interface DemoTv {
  /** Venue and screen: `Aurora Café / Entrance`. */
  place: string;
  screenId: string;
  player: Player;
  /** Whether it replaces the TV of an earlier run. */
  isReplacement: boolean;
}

interface Place {
  venue: string;
  screen: string;
  deviceInfo: DeviceInfoInput;
}

/** Returns the places of the demo, with the device info of their TVs. */
function demoPlaces(): Place[] {
  const { venues } = JSON.parse(readAsset('fixtures', 'demo.json').toString()) as {
    venues: { name: string; screens: { name: string; device: string }[] }[];
  };
  const places = venues.flatMap(({ name: venue, screens }) =>
    screens.map(({ name: screen, device }) => ({ venue, screen, device })),
  );
  return places.map(({ device, ...place }) => ({
    ...place,
    deviceInfo: readDeviceProfile(device, 'The device of the demo'),
  }));
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
 * Revokes the TV of an earlier run, whose key was only in memory. Leaves any other TV alone.
 * Returns whether the screen is free.
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

/** Pairs a TV. Creates a code like an installer, then registers with it like a TV. */
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
  const body = { screenId: screen.id, simulated: true };
  const { code } = await management.call('createCode', { body, signal });
  await player.register(code);
  return { place, screenId: screen.id, player, isReplacement: screen.deviceId !== null };
}

/**
 * Pairs up to `count` simulated TVs with the screens of the demo, which it finds by name. Does not
 * touch screens with other TVs, or any other records.
 */
async function pairDemoTvs(demo: Demo, count: number): Promise<DemoTv[]> {
  const tvs: DemoTv[] = [];
  for (const place of demoPlaces().slice(0, count)) {
    const screen = await findScreen(demo, place);
    if (!screen || !(await freeScreen(demo, screen, place.deviceInfo))) continue;
    tvs.push(await pairTv(demo, screen, place));
  }
  return tvs;
}

/** Offers the first free screen of the demo to a browser. Does nothing without a free screen. */
async function offerBrowser(demo: Demo): Promise<BrowserOffer | undefined> {
  for (const place of demoPlaces().slice(tvCount)) {
    const screen = await findScreen(demo, place);
    if (!screen || screen.deviceId !== null) continue;
    const name = escapeControl(`${place.venue} / ${place.screen}`);
    const offer = await offerCode(demo, screen.id, `A TV in your browser, for ${name}:\n  `);
    demo.io.stdout.write('\n');
    return offer;
  }
  return undefined;
}

type StoredEvent = CallAnswer<'listEvents'>['items'][number];

const waitSeconds = 20;
const retryDelayMs = 2000;

/**
 * Returns the file name of a creative on the TV's playlist, such as `spring.mp4`. Returns the id of
 * any other creative.
 */
function creativeName(tv: DemoTv | undefined, creativeId: unknown): string {
  const item = tv?.player.state.playlist?.items.find((one) => one.creativeId === creativeId);
  return item ? posix.basename(new URL(item.creativeUrl).pathname) : String(creativeId);
}

/** Formats an event: `14:05:09  Aurora Café / Entrance  impression  spring.mp4, 10 s`. */
function eventLine({ event, screenId, receivedAt }: StoredEvent, tvs: readonly DemoTv[]): string {
  const tv = tvs.find((one) => one.screenId === screenId);
  const width = largest(tvs.map((one) => one.place.length));
  const time = new Date(receivedAt).toTimeString().slice(0, 8);
  const shown =
    event.type === 'impression'
      ? `  ${creativeName(tv, event.creativeId)}, ${event.duration} s`
      : '';
  const place = escapeControl((tv?.place ?? screenId).padEnd(width));
  return `${time}  ${place}  ${escapeControl(String(event.type))}${escapeControl(shown)}\n`;
}

/** Prints a line for each new event until the demo is interrupted. Retries after errors. */
async function printEvents(
  { management, io, clock, log, interrupted: signal }: Demo,
  tvs: readonly DemoTv[],
): Promise<void> {
  const newest = await management.call('listEvents', { query: { limit: 1 }, signal });
  let after = newest.items[0]?.id;
  while (!signal.aborted) {
    try {
      const since = after === undefined ? {} : { after };
      const query = { order: 'asc' as const, waitSeconds, ...since };
      const { items } = await management.call('listEvents', { query, signal });
      for (const item of items) io.stdout.write(eventLine(item, tvs));
      after = items.at(-1)?.id ?? after;
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ err }, 'Reading new events failed; retrying.');
      await pause(clock, retryDelayMs, signal);
    }
  }
}

function announce({ io }: Demo, tvs: readonly DemoTv[]): void {
  const how = (tv: DemoTv) =>
    tv.isReplacement ? 'paired again, replacing the TV of the last run' : 'paired';
  io.stdout.write(
    `Simulated TVs, playing until the service stops:\n${tvs.map((tv) => `  ${tv.place}: ${how(tv)}\n`).join('')}\n`,
  );
}

async function keepPlaying({ interrupted, log }: Demo, { place, player }: DemoTv): Promise<void> {
  const { reason, error } = await player.run(interrupted);
  if (reason !== 'unpaired') return;
  log.info(
    { err: error },
    `The simulated TV of ${place} was unpaired and stops. The next start of the demo pairs it again.`,
  );
}

async function run(simulation: Simulation, hasPlayer: boolean): Promise<void> {
  const { url, token, clock, random, log, io } = simulation;
  if (token === undefined) {
    log.warn(
      {},
      'No simulated TVs: they need the platform token, which the first start printed. Set SIGNAGE_ADMIN_TOKEN to it.',
    );
    return;
  }
  const tenantId = await oldestTenant(simulation);
  const management = new ManagementClient({ url, token, tenantId, clock, random });
  const demo = { ...simulation, management };
  const tvs = await pairDemoTvs(demo, tvCount);
  if (tvs.length === 0) {
    log.warn(
      {},
      'No simulated TVs: this store has no free screens of the demo, which fills only empty stores.',
    );
    return;
  }
  announce(demo, tvs);
  const offer = hasPlayer ? await offerBrowser(demo) : undefined;
  io.stdout.write('Events as they arrive (GET /v1/events):\n');
  await Promise.all([
    printEvents(demo, tvs),
    ...tvs.map((tv) => keepPlaying(demo, tv)),
    ...(offer ? [renewOffer(demo, offer)] : []),
  ]);
}

/**
 * Runs a few simulated TVs, and prints each new event to `stdout`, until the service is
 * interrupted. Never throws.
 *
 * @param hasPlayer whether the service has the web player
 */
export async function runDemo(simulation: Simulation, hasPlayer: boolean): Promise<void> {
  try {
    await run(simulation, hasPlayer);
  } catch (err) {
    if (!simulation.interrupted.aborted)
      simulation.log.warn({ err }, 'No simulated TVs: they could not be paired.');
  }
}
