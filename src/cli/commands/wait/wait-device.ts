import type { Device } from '../../../client/entities.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { isGuid } from '../../../domain/id.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { findScreen } from '../../records/find.ts';
import { mapBounded } from '../../records/for-each-record.ts';
import {
  hasFilter,
  isSingle,
  selectionFilters,
  selectionOptions,
  selectScreens,
} from '../../records/select-screens.ts';
import { devicesOfScreenView, devicesView } from '../../records/views/device-views.ts';
import type { Looked } from '../../records/wait.ts';
import { shellQuote } from '../../terminal/text.ts';

import { type Goal, type SeenRecord, timeout, waitForAll } from './wait-for-all.ts';

/** A device by its id, or the current device of a screen. */
type Target = { deviceId: string } | { screenId: string };

async function findTarget(call: CommandContext, text: string): Promise<Target> {
  if (!isGuid(text)) return { screenId: (await findScreen(call, text)).id };
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

async function lookAtDevice(call: CommandContext, target: Target): Promise<Looked<Device>> {
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

export const device = defineCommand({
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
        ? `the device ${isGuid(name) ? name : `of "${name}"`} to be online`
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
