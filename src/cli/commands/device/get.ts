import { defineCommand, one } from '../../command/spec.ts';
import { findDevice } from '../../records/find.ts';
import { devicesOfScreenView } from '../../records/views/device-view.ts';

export const command = defineCommand({
  summary: 'Show a device',
  arguments: { device: one('its id, or the screen that it is on', 'device') },
  examples: [
    ['signage device get Lobby/Main', 'the one that is on this screen now'],
    ['signage device get Lobby/Main -o json --jq .lastSeenAt', 'one member of it'],
  ],
  operation: 'getDevice',
  effect: 'reads',
  async run(call) {
    const device = await findDevice(call, call.args.device);
    await call.results.record(device, devicesOfScreenView(call, device.screenId));
  },
});
