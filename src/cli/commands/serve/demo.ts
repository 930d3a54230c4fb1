import type { CallAnswer } from '../../../client/call.ts';
import type { DeviceInfoInput } from '../../../client/entities.ts';
import { ManagementClient } from '../../../client/management-client.ts';
import { RuntimeClient } from '../../../client/runtime-client.ts';
import { minuteMs, secondMs } from '../../../domain/clock.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { readAsset } from '../../../package/assets.ts';
import { Player } from '../../../player/assembly/player.ts';
import { readDeviceProfile } from '../../input/fixtures.ts';
import { poll } from '../../records/wait.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { type Demo, type DemoScreen, demoLine, printEvents } from './demo-events.ts';

const tvCount = 3;

type Screen = CallAnswer<'getScreen'>;

interface DemoTv extends DemoScreen {
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

/**
 * Returns a free screen for a TV in a browser: that of a place, or a new one beside it with the
 * same playlist. `undefined` if the place is gone.
 */
async function screenForBrowser(
  demo: Demo,
  { venue, screen: name, deviceInfo }: Place,
): Promise<DemoScreen | undefined> {
  const { management, interrupted: signal } = demo;
  const first = await findScreen(demo, { venue, screen: name, deviceInfo });
  if (!first) return undefined;
  for (let number = 1; ; number++) {
    const screen = number === 1 ? name : `${name} ${number}`;
    const found = await findScreen(demo, { venue, screen, deviceInfo });
    const place = `${venue} / ${screen}`;
    if (found && found.deviceId === null) return { screenId: found.id, place };
    if (found) continue;
    const body = { venueId: first.venueId, name: screen };
    const { id } = await management.call('createScreen', { body, signal });
    const { items } = await management.call('readPlaylist', { params: { id: first.id }, signal });
    await management.call('publishPlaylist', { params: { id }, body: { items }, signal });
    return { screenId: id, place };
  }
}

/** A code for a TV in a browser. */
interface BrowserOffer {
  screenId: string;
  code: string;
}

/**
 * Creates a code for a screen, and prints how to use it in a browser. `start` precedes the text.
 */
async function offerCode(demo: Demo, screenId: string, start: string): Promise<BrowserOffer> {
  const { management, url, io, interrupted: signal } = demo;
  const made = await management.call('createCode', { body: { screenId }, signal });
  const { code, expiresInSeconds } = made;
  const minutes = Math.floor((expiresInSeconds * secondMs) / minuteMs);
  io.stdout.write(
    `${start}Open ${url}/player in a browser and type ${groupedCode(code)} within ${minutes} minutes.\n`,
  );
  return { screenId, code };
}

const endless = { timeoutMs: Number.POSITIVE_INFINITY, what: 'a browser to use the code' };

/**
 * Waits until a browser has used the code, and replaces the code whenever it has expired. Returns
 * whether a browser did; not if the code was cancelled or the demo ended.
 */
async function awaitBrowser(demo: Demo, first: BrowserOffer): Promise<boolean> {
  const { management, log, interrupted: signal } = demo;
  let { screenId, code } = first;
  try {
    const end = await poll(demo, endless, async () => {
      const { status } = await management.call('getCodeStatus', { params: { code }, signal });
      if (status === 'expired')
        ({ code } = await offerCode(demo, screenId, 'The code has expired. '));
      return status === 'pending' || status === 'expired' ? undefined : status;
    });
    return end === 'used';
  } catch (err) {
    if (!signal.aborted)
      log.warn({ err }, `No new code for a browser. To get one: signage code create ${screenId}`);
    return false;
  }
}

/** Offers a screen to a browser, and says so when a browser is its TV. */
async function offerBrowser(
  demo: Demo,
  { screen, offer }: { screen: DemoScreen; offer: BrowserOffer },
  screens: readonly DemoScreen[],
): Promise<void> {
  if (await awaitBrowser(demo, offer))
    demo.io.stdout.write(demoLine(demo.clock.now(), screen, screens, 'paired'));
}

async function makeOffer(demo: Demo) {
  const [place] = demoPlaces().slice(tvCount);
  const screen = place && (await screenForBrowser(demo, place));
  if (!screen) return undefined;
  const start = `A TV in your browser, for ${escapeControl(screen.place)}:\n  `;
  const offer = await offerCode(demo, screen.screenId, start);
  demo.io.stdout.write('\n');
  return { screen, offer };
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

/** The service of the demo. The platform token belongs to no tenant. */
interface DemoService extends Omit<Demo, 'management'> {
  token: string | undefined;
}

async function run(service: DemoService, hasPlayer: boolean): Promise<void> {
  const { url, token, clock, random, log, io } = service;
  if (token === undefined) {
    log.warn(
      {},
      'No simulated TVs: they need the platform token, which the first start printed. Set SIGNAGE_ADMIN_TOKEN to it.',
    );
    return;
  }
  const platform = new ManagementClient({ url, token, clock, random });
  const oldest = await platform.call('listTenants', {
    query: { limit: 1 },
    signal: service.interrupted,
  });
  const tenantId = oldest.items[0]?.id;
  const management = new ManagementClient({ url, token, tenantId, clock, random });
  const demo = { ...service, management };
  const tvs = await pairDemoTvs(demo, tvCount);
  if (tvs.length === 0) {
    log.warn(
      {},
      'No simulated TVs: this store has no free screens of the demo, which fills only empty stores.',
    );
    return;
  }
  announce(demo, tvs);
  const offered = hasPlayer ? await makeOffer(demo) : undefined;
  const screens = [...tvs, ...(offered ? [offered.screen] : [])];
  io.stdout.write('Events as they arrive (GET /v1/events):\n');
  await Promise.all([
    printEvents(demo, screens),
    ...tvs.map((tv) => keepPlaying(demo, tv)),
    ...(offered ? [offerBrowser(demo, offered, screens)] : []),
  ]);
}

/**
 * Runs a few simulated TVs, and prints each new event to `stdout`, until the service is
 * interrupted. Never throws.
 *
 * @param hasPlayer whether the service has the web player
 */
export async function runDemo(service: DemoService, hasPlayer: boolean): Promise<void> {
  try {
    await run(service, hasPlayer);
  } catch (err) {
    if (!service.interrupted.aborted)
      service.log.warn({ err }, 'No simulated TVs: they could not be paired.');
  }
}
