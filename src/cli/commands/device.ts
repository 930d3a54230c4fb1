import type { Device } from '../../client/entities.ts';
import * as option from '../input/option.ts';
import { selectorOption } from '../input/selector.ts';
import { usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, one, some } from '../program/spec.ts';
import { findDevice, findScreen } from '../records/find.ts';
import { forEachRecord } from '../records/for-each-record.ts';
import { screenPath } from '../records/names.ts';
import { listOfVenues, venueIdsOf } from '../records/of-venues.ts';
import {
  confirmDestroyed,
  hasFilter,
  isSingle,
  selectionOptions,
  selectScreens,
  venueOption,
} from '../records/select-screens.ts';
import { devicesOfScreenView, devicesView, revocationView } from '../records/views/device-views.ts';
import { shellQuote } from '../terminal/text.ts';

/**
 * A device to revoke. `id` is the screen id. `name` is the screen name, or the text that was typed.
 */
interface Target {
  id: string;
  name: string;
  device: Pick<Device, 'id' | 'state'> | undefined;
}

function revocation({ change, options: { reason } }: CommandContext, id: string) {
  return change('revokeDevice', {
    params: { id },
    ...(reason !== undefined && { body: { reason } }),
  });
}

async function revokeOne(call: CommandContext, named: string): Promise<void> {
  const device = await findDevice(call, named);
  const name = await screenPath(
    call,
    await call.read('getScreen', { params: { id: device.screenId } }),
  );
  const wasRevoked = device.state === 'suspended';
  if (!wasRevoked)
    await call.confirmDestruction(
      `Revoke the device on "${name}"? Its TV stops working until it is paired again.`,
    );
  const made = await revocation(call, device.id);
  if (!made) return;
  await call.results.record(made.answer, revocationView(name));
  call.note(
    wasRevoked
      ? 'The device was already revoked. Nothing changed.'
      : `Revoked the device. To pair a TV: signage pair ${shellQuote(name)}`,
  );
}

async function chosenTargets(call: CommandContext, named: readonly string[]): Promise<Target[]> {
  if (named.length === 0 || hasFilter(call)) {
    const { screens } = await selectScreens(call, named);
    return screens.map(({ id, name, screen: { deviceId } }) => ({
      id,
      name,
      device: deviceId === null ? undefined : { id: deviceId, state: 'bound' },
    }));
  }
  const targets: Target[] = [];
  for (const name of named) {
    const device = await findDevice(call, name);
    targets.push({ id: device.screenId, name, device });
  }
  return targets;
}

async function revokeTarget(call: CommandContext, { device }: Target): Promise<string | undefined> {
  if (device?.state !== 'bound') return 'unchanged';
  return (await revocation(call, device.id)) && 'revoked';
}

const revoke = defineCommand({
  summary: 'Revoke a device and free its screen',
  description: `Ends the pairing of a TV: its key no longer works, and the state of the device is then
suspended, for ever. The screen stays, with its playlist. Pair the same or another TV to use the screen again. With
several devices, --selector or --venue, it prints one result for each device. One failure does not
stop the others. Screens without a device are not changed.`,
  arguments: { device: some('the device id, or the screen that it is on', 'device') },
  options: {
    reason: option.text(
      '--reason <text>',
      'the reason; recorded with the device and in the audit trail',
    ),
    ...selectionOptions,
  },
  examples: [
    ['signage device revoke Lobby/Main --reason stolen', 'asks first'],
    ['signage device revoke Lobby/Main --yes', 'for scripts: does not ask first'],
    [
      'signage device revoke --selector floor=2 --venue Lobby --reason "new hardware" --yes',
      'all devices of one floor in the venue',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const named = call.args.device;
    if (isSingle(call, named)) {
      await revokeOne(call, named[0] ?? '');
      return 0;
    }
    const targets = await chosenTargets(call, named);
    await confirmDestroyed(call, 'Revoke the devices of', targets);
    return forEachRecord(call, targets, (target) => revokeTarget(call, target));
  },
});

const list = defineCommand({
  summary: 'List devices',
  description: `A device is a TV that was paired. It is bound until it is revoked, and then suspended
for ever: its key no longer works, and its TV is paired again as a new device. The list includes
suspended devices. --state bound leaves them out.`,
  options: {
    venue: venueOption('only devices of this venue, by id or name'),
    screen: option.text(
      '--screen <screen>',
      'only devices that are or were on this screen',
      'screen',
    ),
    selector: selectorOption('only devices of screens with these labels'),
    state: option.choice(['bound', 'suspended'], '--state <state>', 'only devices in this state'),
    online: option.flag('--online', 'only devices that are online'),
    offline: option.flag('--offline', 'only devices that are offline'),
  },
  examples: [
    ['signage device list', 'all'],
    [
      'signage device list --venue Lobby --state bound --offline',
      'the paired TVs of a venue that are offline',
    ],
    [
      "signage device list --selector 'role=menu,venue:city=Accra'",
      'by labels of the screen and its venue',
    ],
    [
      'signage device list --screen Lobby/Main -o wide',
      'current and former devices of a screen, with all columns',
    ],
  ],
  list: true,
  async run(call) {
    const { venue, screen, selector, state, online, offline } = call.options;
    if (online && offline) throw usage('Give --online or --offline, not both.');
    const venueIds = await venueIdsOf(call, venue);
    const screenId = screen === undefined ? undefined : (await findScreen(call, screen)).id;
    const view =
      screenId === undefined
        ? devicesView(call, venueIds.length === 1 ? venueIds[0] : undefined)
        : devicesOfScreenView(call, screenId);
    const onlineText = online ? ('true' as const) : ('false' as const);
    const query = {
      screenId,
      state,
      online: online || offline ? onlineText : undefined,
      selector: [...selector],
    };
    await listOfVenues(call, venueIds, 'listDevices', view, query);
  },
});

const get = defineCommand({
  summary: 'Show a device',
  arguments: { device: one('the device id, or the screen that it is on', 'device') },
  examples: [
    ['signage device get Lobby/Main', 'the device on this screen'],
    ['signage device get Lobby/Main -o json --jq .lastSeenAt', 'one field'],
  ],
  async run(call) {
    const device = await findDevice(call, call.args.device);
    await call.results.record(device, devicesOfScreenView(call, device.screenId));
  },
});

export const device = { revoke, list, get };
