import { forEachBounded } from '../../domain/concurrency.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { recordsAtOnce } from '../command/for-each-record.ts';
import { defineCommand, some } from '../command/spec.ts';
import * as option from '../options/option.ts';
import {
  hasFilter,
  isSingle,
  type Selected,
  selectionFilters,
  selectionOptions,
  selectScreens,
} from '../options/select-screens.ts';
import { type Setting, usage } from '../options/settings.ts';
import { type Device, findScreen, type Screen } from '../records/find.ts';
import { isUuid } from '../records/names.ts';
import { countText, shellQuote } from '../records/text.ts';
import { devicesOfScreenView } from '../records/views/device-views.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { waitFor } from '../records/wait.ts';

const timeout = option.duration(
  '15m',
  '--timeout <time>',
  'stop waiting after this time, such as 90s, 15m or 2h',
);

function describeScreen({ state, provisioningCode }: Screen): string {
  if (state === 'active') return 'it is active';
  return `it is provisioning, ${provisioningCode ? `its newest pairing code ${provisioningCode.status}` : 'without a pairing code'}`;
}

async function lookAtScreen(call: CommandContext, id: string, state: string) {
  const screen = await call.read('getScreen', { params: { id } });
  return { found: screen.state === state ? screen : undefined, saw: describeScreen(screen) };
}

/**
 * Interval between two checks of several records. Longer than for one record, because each check
 * sends several requests.
 */
const everyMsForMany = 2000;

/** One of several records to wait for. */
interface WaitedRecord {
  name: string;
  isReady: boolean;
}

interface ManyWaiting<T> {
  /** The condition, as the end of a sentence: `have a TV`. */
  what: string;
  hint: string;
  /** Reads the current state of all records. */
  look(): Promise<T[]>;
}

/** Waits until all records are ready, and returns them. */
function waitForAll<T extends WaitedRecord>(
  call: CommandContext,
  { what, hint, look }: ManyWaiting<T>,
): Promise<T[]> {
  const waiting = {
    timeoutMs: call.options.timeout,
    what: `all selected screens to ${what}`,
    hint,
    everyMs: everyMsForMany,
  };
  return waitFor(call, waiting, async () => {
    const all = await look();
    const left = all.filter(({ isReady }) => !isReady);
    const count = `${left.length.toLocaleString('en')} of ${countText(all.length, 'screen')}`;
    const saw = `still missing are ${count}, such as "${left[0]?.name}"`;
    return { found: left.length === 0 ? all : undefined, saw };
  });
}

/** Calls `map` for each item, concurrently. Returns the results in the order of `items`. */
async function mapConcurrently<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await forEachBounded(items.entries(), recordsAtOnce, async ([at, item]) => {
    results[at] = await map(item);
  });
  return results;
}

/**
 * Waits for the screens that are named or selected. Resolves names only once, but selects again at
 * each check.
 */
async function waitForScreens(
  call: CommandContext,
  names: readonly string[],
  state: Screen['state'],
): Promise<Screen[]> {
  const named = hasFilter(call) ? undefined : (await selectScreens(call, names)).screens;
  const reread = ({ id, name }: Selected) =>
    call.read('getScreen', { params: { id } }).then((screen) => ({ id, name, screen }));
  const looked = await waitForAll(call, {
    what: `be ${state}`,
    hint: `signage screen list --state ${state === 'active' ? 'provisioning' : 'active'}`,
    async look() {
      const screens = named
        ? await mapConcurrently(named, reread)
        : (await selectScreens(call, names)).screens;
      return screens.map((one) => ({ ...one, isReady: one.screen.state === state }));
    },
  });
  return looked.map(({ screen }) => screen);
}

const screenStates = ['active', 'provisioning'] as const;

/** A state of screens, or a playlist version that TVs should get. */
type ScreenGoal = (typeof screenStates)[number] | { version: number | 'latest' };

const screenGoal: Setting<ScreenGoal> = {
  flags: '--for <state>',
  help: 'what to wait for: active, provisioning, playlist:<version> or playlist:latest',
  read(text, source) {
    const state = screenStates.find((one) => one === text);
    if (state !== undefined) return state;
    const [, version] = /^playlist:([1-9]\d{0,14}|latest)$/.exec(text) ?? [];
    if (version === 'latest') return { version };
    if (version !== undefined) return { version: Number(version) };
    throw usage(
      `${source} must be active, provisioning, or a version such as playlist:8, not "${text}".`,
    );
  },
  initial: 'active',
  shown: 'active',
  choices: screenStates,
};

const screen = defineCommand({
  summary: 'Wait until a screen has a TV or a playlist version, or no longer has a TV',
  description: `Returns at once if the screen is in this state. With several screens, --selector or
--venue, it waits until all the screens are in this state. Exit code 8: the timeout passed.

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
  ],
  async run(call) {
    const { for: state, timeout: timeoutMs } = call.options;
    const names = call.args.screen;
    if (typeof state === 'object') {
      const { waitForVersion } = await import('../playlist/wait-for-version.ts');
      return waitForVersion(call, names, state.version);
    }
    const [name] = names;
    if (name === undefined || !isSingle(call, names)) {
      const screens = await waitForScreens(call, names, state);
      await call.results.list([screens], screensView(call));
      return;
    }
    const { id, venueId } = await findScreen(call, name);
    const hint =
      state === 'active'
        ? `To pair a TV: signage pair ${shellQuote(name)}`
        : `To free it: signage device revoke ${shellQuote(name)}`;
    const what = `the screen "${name}" to be ${state}`;
    const screen = await waitFor(call, { timeoutMs, what, hint }, () =>
      lookAtScreen(call, id, state),
    );
    await call.results.record(screen, screensOfVenueView(call, venueId));
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

async function lookAtDevice(call: CommandContext, target: Target) {
  const id =
    'deviceId' in target
      ? target.deviceId
      : (await call.read('getScreen', { params: { id: target.screenId } })).deviceId;
  if (id === null) return { found: undefined, saw: 'the screen has no device' };
  const device = await call.read('getDevice', { params: { id } });
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

/** Checks which of the selected screens have an online device. */
async function lookAtSelected(call: CommandContext, names: readonly string[]) {
  const { screens } = await selectScreens(call, names);
  const filters = selectionFilters(call, screens);
  const query = { ...filters, state: 'bound', online: 'true' } as const;
  const devices = screens.length === 0 ? [] : await call.all('listDevices', { query });
  const online = new Set(devices.map(({ screenId }) => screenId));
  return screens.map((one) => ({ ...one, isReady: online.has(one.id) }));
}

/** Waits for the devices that are named or selected. Returns their screens. */
async function waitForDevices(call: CommandContext, names: readonly string[]): Promise<Screen[]> {
  const waiting = { what: 'have an online device', hint: 'signage device list --offline' };
  if (names.length === 0 || hasFilter(call)) {
    const look = () => lookAtSelected(call, names);
    return (await waitForAll(call, { ...waiting, look })).map(({ screen }) => screen);
  }
  const targets = await mapConcurrently([...new Set(names)], async (name) => ({
    name,
    target: await findTarget(call, name),
  }));
  const found = await waitForAll(call, {
    ...waiting,
    look: () =>
      mapConcurrently(targets, async ({ name, target }) => {
        const { found: device } = await lookAtDevice(call, target);
        return { name, screenId: device?.screenId ?? '', isReady: device !== undefined };
      }),
  });
  const ids = [...new Set(found.map(({ screenId }) => screenId))];
  return mapConcurrently(ids, (id) => call.read('getScreen', { params: { id } }));
}

const device = defineCommand({
  summary: 'Wait until a device is online',
  description: `Returns at once if the device is online. For a screen, the device may be paired
while the command waits. With several screens, --selector or --venue, it waits until the devices of
all the screens are online. Exit code 8: the timeout passed.`,
  arguments: { device: some('the device id, or the screen that it is on', 'device') },
  options: {
    ...selectionOptions,
    for: option.choice(['online'], '--for <state>', 'what to wait for (default: online)'),
    timeout,
  },
  examples: [
    ['signage wait device Lobby/Main', 'waits until its TV is online'],
    ['signage wait device Lobby/Main --for online --timeout 2m', 'waits at most two minutes'],
  ],
  async run(call) {
    const names = call.args.device;
    const [named] = names;
    if (named === undefined || !isSingle(call, names)) {
      const screens = await waitForDevices(call, names);
      await call.results.list([screens], screensView(call));
      return;
    }
    const target = await findTarget(call, named);
    const waiting = {
      timeoutMs: call.options.timeout,
      what: `the device ${isUuid(named) ? named : `of "${named}"`} to be online`,
    };
    const device = await waitFor(
      call,
      { ...waiting, hint: `To find out why: signage doctor ${shellQuote(named)}` },
      () => lookAtDevice(call, target),
    );
    await call.results.record(device, devicesOfScreenView(call, device.screenId));
  },
});

export const wait = { screen, device };
