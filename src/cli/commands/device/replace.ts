import { defineCommand, one } from '../../command/spec.ts';
import { pairingOptions } from '../../pair/pairing-options.ts';

export const command = defineCommand({
  summary: 'Replace the TV of a screen',
  description: `Revokes the old TV: its key no longer works. Then shows a pairing code for the new
TV and follows it like signage pair. The screen keeps its name, labels, config, playlist and
history.`,
  arguments: { screen: one('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: pairingOptions('the reason; recorded with the old device and in the audit trail'),
  examples: [
    ['signage device replace Lobby/Main', 'asks first, also for the reason'],
    ['signage device replace Lobby/Main --reason "Panel is broken" --yes', 'does not ask first'],
    [
      'signage device replace Lobby/Main --reason "Panel is broken" --yes -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { replaceDevice } = await import('../../pair/run-pair.ts');
    await replaceDevice(call, call.args.screen, call.options);
  },
});
