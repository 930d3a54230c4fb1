import type { CommandContext } from '../../command/context.ts';
import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import {
  confirmSelected,
  isSingle,
  resolveScreens,
  selectionOptions,
} from '../../options/select-screens.ts';
import { type Device, findDevice } from '../../records/find.ts';
import { screenPath } from '../../records/names.ts';
import { shellQuote } from '../../records/text.ts';
import { revocationView } from '../../records/views/device-views.ts';

/**
 * A device to revoke. `id` is that of its screen, and `name` is the screen name or the typed text.
 */
interface Target {
  id: string;
  name: string;
  device: Pick<Device, 'id' | 'state'> | undefined;
}

function revocation(call: CommandContext, id: string) {
  const reason: string | undefined = call.options.reason;
  return call.change('revokeDevice', {
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
  const { venue, selector } = call.options;
  if (named.length === 0 || venue !== undefined || selector.length > 0) {
    const chosen = await resolveScreens(call, { screens: named, venue, selector });
    return chosen.map(({ id, name, screen: { deviceId } }) => ({
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

export const command = defineCommand({
  summary: 'Revoke a device and free its screen',
  description: `Its key no longer works. Pair the same or another TV to use the screen again. With
several devices, --selector or --venue there is one result for each. One failure does not stop the
others. Screens without a device are not changed.`,
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
  operation: 'revokeDevice',
  effect: 'destroys',
  async run(call) {
    const named = call.args.device;
    if (isSingle({ ...call.options, screens: named })) {
      await revokeOne(call, named[0] ?? '');
      return 0;
    }
    const targets = await chosenTargets(call, named);
    await confirmSelected(call, 'Revoke the devices of', targets);
    return forEachRecord(
      call,
      targets,
      ({ id, name }) => ({ id, name }),
      (target) => revokeTarget(call, target),
    );
  },
});
