import { defineCommand, one } from '../../command/spec.ts';
import { pairingOptions } from '../../pair/pairing-options.ts';

export const command = defineCommand({
  summary: 'Revoke the TV of a screen and pair another in its place',
  description:
    'For hardware that is replaced: the key of the old TV is refused from then on, and the pairing code of the new one is shown until it has ' +
    'registered; then it is followed as with signage pair. The screen keeps its name, labels, config, playlist and history.',
  arguments: { screen: one('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: pairingOptions('why; kept with the old device and in the audit trail'),
  examples: [
    ['signage device replace Lobby/Main', 'asks first, and why'],
    ['signage device replace Lobby/Main --reason "Panel is broken" --yes', 'does not ask'],
    [
      'signage device replace Lobby/Main --reason "Panel is broken" --yes -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { replaceDevice } = await import('../../pair/replace-device.ts');
    await replaceDevice(call, call.args.screen, call.options);
  },
});
