import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { mapBounded } from '../command/for-each-record.ts';
import { defineCommand, some } from '../command/spec.ts';
import * as option from '../options/option.ts';
import {
  hasFilter,
  isSingle,
  noneMatches,
  selectionFilters,
  selectionOptions,
  selectScreens,
} from '../options/select-screens.ts';
import { type Setting, usage } from '../options/settings.ts';
import { type Device, findScreen, type Screen } from '../records/find.ts';
import { isUuid } from '../records/names.ts';
import { countText, shellQuote } from '../records/text.ts';
import { devicesOfScreenView, devicesView } from '../records/views/device-views.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { type Seen, waitFor } from '../records/wait.ts';
import type { JudgedScreen } from '../status/fleet-status.ts';

const timeout = option.duration(
  '15m',
  '--timeout <time>',
  'stop waiting after this time, such as 90s, 15m or 2h',
);

/** One of the records that a command waits for. */
interface SeenRecord<T> extends Seen<T> {
  name: string;
}

interface Goal<T> {
  /** What to wait for: of one record, or of all selected screens. */
  what: string;
  hint: string;
  /**
   * Interval between two checks of several records. Longer than for one record, because each check
   * requests all of them. Default: 2000.
   */
  everyMsForMany?: number;
  look(): Promise<SeenRecord<T>[]>;
}

/** Waits until all records are in the wanted state, and returns them. */
function waitForAll<T>(
  call: CommandContext,
  names: readonly string[],
  { look, everyMsForMany = 2000, ...goal }: Goal<T>,
): Promise<T[]> {
  const isOne = isSingle(call, names);
  const waiting = {
    ...goal,
    timeoutMs: call.options.timeout,
    everyMs: isOne ? 1000 : everyMsForMany,
  };
  return waitFor(call, waiting, async () => {
    const all = await look();
    const left = all.filter(({ found }) => found === undefined);
    const [first] = left;
    const count = `${left.length.toLocaleString('en')} of ${countText(all.length, 'screen')}`;
    const saw = first?.saw ? `: ${first.saw}` : '';
    return {
      found: first ? undefined : all.map(({ found }) => found as T),
      saw: (isOne && first?.saw) || `still missing are ${count}, such as "${first?.name}"${saw}`,
    };
  });
}

function describeScreen({ state, provisioningCode }: Screen): string {
  if (state === 'active') return 'it is active';
  return `it is provisioning, ${provisioningCode ? `its newest pairing code ${provisioningCode.status}` : 'without a pairing code'}`;
}

/** Names are looked up once. A selection may change, so it is made at each look. */
async function screensInState(
  call: CommandContext,
  names: readonly string[],
  state: Screen['state'],
): Promise<Goal<Screen>['look']> {
  const named = hasFilter(call) ? undefined : (await selectScreens(call, names)).screens;
  const seen = (name: string, screen: Screen): SeenRecord<Screen> => ({
    name,
    found: screen.state === state ? screen : undefined,
    saw: describeScreen(screen),
  });
  if (named)
    return () =>
      mapBounded(named, async ({ id, name }) =>
        seen(name, await call.read('getScreen', { params: { id } })),
      );
  return async () => {
    const { screens } = await selectScreens(call, names);
    return screens.map(({ name, screen }) => seen(name, screen));
  };
}

function describeCondition({ condition, reason }: JudgedScreen): string {
  return `it is ${condition}${reason ? ` (${reason.text.replace(/\.$/, '')})` : ''}`;
}

/** Names are looked up once. A selection is made at each look. */
async function playingScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<Goal<JudgedScreen>['look']> {
  const { judgedScreen, readFleetStatus, readScreenStatus } = await import(
    '../status/fleet-status.ts'
  );
  const seen = (name: string, screen: JudgedScreen): SeenRecord<JudgedScreen> => ({
    name,
    found: screen.condition === 'playing' ? screen : undefined,
    saw: describeCondition(screen),
  });
  const { screens } = await selectScreens(call, names);
  if (!hasFilter(call))
    return () =>
      mapBounded(screens, async ({ id, name }) =>
        seen(name, judgedScreen(await readScreenStatus(call, id))),
      );
  return async () => {
    const all = await readFleetStatus(call, call.options);
    if (all.length === 0 && !call.options.allowNone) throw noneMatches(call);
    return all.map(({ name, ...status }) => seen(name, judgedScreen(status)));
  };
}

const screenStates = ['active', 'provisioning', 'playing'] as const;

/** A state of screens, or a playlist version that TVs should get. */
type ScreenGoal = (typeof screenStates)[number] | { version: number | 'latest' };

const screenGoal: Setting<ScreenGoal> = {
  flags: '--for <state>',
  help: 'what to wait for: active, provisioning, playing, playlist:<version> or playlist:latest',
  read(text, source) {
    const state = screenStates.find((one) => one === text);
    if (state !== undefined) return state;
    const [, version] = /^playlist:([1-9]\d{0,14}|latest)$/.exec(text) ?? [];
    if (version === 'latest') return { version };
    if (version !== undefined) return { version: Number(version) };
    throw usage(
      `${source} must be active, provisioning, playing, or a version such as playlist:8, not "${text}".`,
    );
  },
  initial: 'active',
  shown: 'active',
  choices: screenStates,
};

const screen = defineCommand({
  summary: 'Wait until a screen plays, has a TV or a playlist version, or no longer has a TV',
  description: `Returns at once if the screen is in this state. With several screens, --selector or
--venue, it waits until all the screens are in this state. Exit code 8: the timeout passed.

--for playing waits until signage status says playing: not while an item fails, nor before the TV
has reported a play. A screen that plays the version before is playing: wait for playlist:latest first.

--for playlist:8 waits until each TV has been given version 8 or a newer one. playlist:latest means
the version that each screen has when the command starts. Exit code 8: no TV got it in time; 9: only
some did. Screens without a TV are listed but not waited for, unless no screen has a TV.`,
  arguments: { screen: some('its id or name', 'screen') },
  options: {
    ...selectionOptions,
    for: screenGoal,
    timeout,
  },
  examples: [
    ['signage wait screen Lobby/Main', 'waits until a TV has registered'],
    [
      'signage wait screen Lobby/Main --for playlist:8',
      'waits until its TV has been given version 8 of the playlist',
    ],
    [
      'signage wait screen Lobby/Main --for provisioning --timeout 5m',
      'waits until its device is revoked',
    ],
    ['signage wait screen --venue Lobby --for playing', 'waits until all screens of a venue play'],
  ],
  async run(call) {
    const state = call.options.for;
    const names = call.args.screen;
    if (typeof state === 'object') {
      const { waitForVersion } = await import('../playlist/delivery.ts');
      return waitForVersion(call, names, state.version);
    }
    const [name = ''] = names;
    const isOne = isSingle(call, names);
    if (state === 'playing') {
      const screens = await waitForAll(call, names, {
        what: isOne ? `the screen "${name}" to play` : 'all selected screens to play',
        hint: isOne ? `To find out why: signage doctor ${shellQuote(name)}` : 'signage status',
        everyMsForMany: 5000,
        look: await playingScreens(call, names),
      });
      const { judgedScreenView } = await import('../status/fleet-status.ts');
      const [screen] = screens;
      if (isOne && screen) return call.results.record(screen, judgedScreenView);
      await call.results.list([screens], judgedScreenView);
      return;
    }
    const command = state === 'active' ? 'pair' : 'device revoke';
    const other = state === 'active' ? 'provisioning' : 'active';
    const screens = await waitForAll(call, names, {
      what: `${isOne ? `the screen "${name}"` : 'all selected screens'} to be ${state}`,
      hint: isOne
        ? `To ${state === 'active' ? 'pair a TV' : 'free it'}: signage ${command} ${shellQuote(name)}`
        : `signage screen list --state ${other}`,
      look: await screensInState(call, names, state),
    });
    const [screen] = screens;
    if (isOne && screen)
      return call.results.record(screen, screensOfVenueView(call, screen.venueId));
    await call.results.list([screens], screensView(call));
  },
});

/** A device by its id, or the current device of a screen. */
type Target = { deviceId: string } | { screenId: string };

async function findTarget(call: CommandContext, text: string): Promise<Target> {
  if (!isUuid(text)) return { screenId: (await findScreen(call, text)).id };
  try {
    return { deviceId: (await call.read('getDevice', { params: { id: text } })).id };
  } catch (error) {
    if (!hasCode(error, 'device_not_found')) throw error;
    await call.read('getScreen', { params: { id: text } }).catch(() => Promise.reject(error));
    return { screenId: text };
  }
}

function describeDevice({ state, lastSeenAt }: Device): string {
  if (state === 'suspended') return 'it is suspended';
  return lastSeenAt === null ? 'it was never seen' : `it was last seen at ${lastSeenAt}`;
}

async function lookAtDevice(call: CommandContext, target: Target): Promise<Seen<Device>> {
  const id =
    'deviceId' in target
      ? target.deviceId
      : (await call.read('getScreen', { params: { id: target.screenId } })).deviceId;
  if (id === null) return { found: undefined, saw: 'the screen has no device' };
  const device = await call.read('getDevice', { params: { id } });
  // Another device may be paired with the screen.
  if (device.state === 'suspended' && 'deviceId' in target) {
    throw new SignageError(
      'wait_timed_out',
      `The device ${id} was revoked and cannot come online again.`,
      {
        hint: 'Pair its TV again: signage pair',
      },
    );
  }
  return { found: device.online ? device : undefined, saw: describeDevice(device) };
}

/** Looks at the devices of all selected screens with one list of online devices. */
async function lookAtSelected(
  call: CommandContext,
  names: readonly string[],
): Promise<SeenRecord<Device>[]> {
  const { screens } = await selectScreens(call, names);
  const filters = selectionFilters(call, screens);
  const query = { ...filters, state: 'bound', online: 'true' } as const;
  const devices = screens.length === 0 ? [] : await call.all('listDevices', { query });
  const online = new Map(devices.map((device) => [device.screenId, device]));
  return screens.map(({ id, name }) => ({ name, found: online.get(id), saw: '' }));
}

async function onlineDevices(
  call: CommandContext,
  names: readonly string[],
): Promise<Goal<Device>['look']> {
  if (names.length === 0 || hasFilter(call)) return () => lookAtSelected(call, names);
  const targets = await mapBounded([...new Set(names)], async (name) => ({
    name,
    target: await findTarget(call, name),
  }));
  return () =>
    mapBounded(targets, async ({ name, target }) => ({
      name,
      ...(await lookAtDevice(call, target)),
    }));
}

const device = defineCommand({
  summary: 'Wait until a device is online',
  description: `Returns at once if the device is online. For a screen, the device may be paired
while the command waits. With several screens, --selector or --venue, it waits until the devices of
all the screens are online. Exit code 8: the timeout passed.`,
  arguments: { device: some('the device id, or the screen that it is on', 'device') },
  options: {
    ...selectionOptions,
    timeout,
  },
  examples: [
    ['signage wait device Lobby/Main', 'waits until its TV is online'],
    ['signage wait device Lobby/Main --timeout 2m', 'waits at most two minutes'],
  ],
  async run(call) {
    const names = call.args.device;
    const [name = ''] = names;
    const isOne = isSingle(call, names);
    const devices = await waitForAll(call, names, {
      what: isOne
        ? `the device ${isUuid(name) ? name : `of "${name}"`} to be online`
        : 'all selected screens to have an online device',
      hint: isOne
        ? `To find out why: signage doctor ${shellQuote(name)}`
        : 'signage device list --offline',
      look: await onlineDevices(call, names),
    });
    const [device] = devices;
    if (isOne && device)
      return call.results.record(device, devicesOfScreenView(call, device.screenId));
    await call.results.list([devices], devicesView(call));
  },
});

export const wait = { screen, device };
