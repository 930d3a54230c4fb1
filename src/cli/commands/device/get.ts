import { defineCommand, one } from '../../command/spec.ts';
import { findDevice } from '../../records/find.ts';
import { devicesOfScreenView } from '../../records/views/device-views.ts';

export const command = defineCommand({
  summary: 'Show a device',
  arguments: { device: one('the device id, or the screen that it is on', 'device') },
  examples: [
    ['signage device get Lobby/Main', 'the device on this screen'],
    ['signage device get Lobby/Main -o json --jq .lastSeenAt', 'one field'],
  ],
  operation: 'getDevice',
  effect: 'reads',
  async run(call) {
    const device = await findDevice(call, call.args.device);
    await call.results.record(device, devicesOfScreenView(call, device.screenId));
  },
});
