import type { CommandContext } from '../../command/context.ts';
import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import {
  choiceOptions,
  chooseScreens,
  confirmSelected,
  isSingle,
} from '../../options/select-screens.ts';
import { type Device, findDevice } from '../../records/find.ts';
import { screenPath } from '../../records/screen-path.ts';
import { shellQuote } from '../../records/shell-quote.ts';
import { revocationView } from '../../records/views/revocation-view.ts';

/** One of many to revoke: `id` and `name` are those of the screen, or what was typed. */
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
      `Revoke the device on "${name}"? It must be paired again to go on.`,
    );
  const made = await revocation(call, device.id);
  if (!made) return;
  await call.results.record(made.answer, revocationView(name));
  call.note(
    wasRevoked
      ? 'It had been revoked before: nothing changed.'
      : `Revoked. To pair another: signage pair ${shellQuote(name)}`,
  );
}

async function chosenTargets(call: CommandContext, named: readonly string[]): Promise<Target[]> {
  const { venue, selector } = call.options;
  if (named.length === 0 || venue !== undefined || selector.length > 0) {
    const chosen = await chooseScreens(call, { screens: named, venue, selector });
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
  description:
    'Its key is refused from then on, and the screen waits for another TV, or for the same one to be paired again.\n' +
    'With several devices, --selector or --venue there is a result for each; one that fails does not stop the others, and screens that ' +
    'have no device stay unchanged.',
  arguments: { device: some('its id, or the screen that it is on', 'device') },
  options: {
    reason: option.text('--reason <text>', 'why; kept with the device and in the audit trail'),
    ...choiceOptions,
  },
  examples: [
    ['signage device revoke Lobby/Main --reason stolen', 'asks first'],
    ['signage device revoke Lobby/Main --yes', 'does not ask: for scripts'],
    [
      'signage device revoke --selector floor=2 --venue Lobby --reason "new hardware" --yes',
      'all devices on that floor of the venue',
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
