import { defineCommand, optional } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { pairingOptions } from '../pair/pairing-options.ts';

export const command = defineCommand({
  summary: 'Pair a TV with a screen, step by step',
  description: `Creates a pairing code and shows it. Type the code on the TV. The command then
follows the TV until it has registered, fetched its playlist and sent its first event. At a terminal
it asks for missing arguments. It replaces expired codes. Stopping the command cancels the code.`,
  arguments: { screen: optional('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: {
    venue: option.text('--venue <venue>', 'the venue, by id or name', 'venue'),
    screen: option.text('--screen <screen>', 'the screen in that venue, by id or name'),
    create: option.flag('--create', 'create the venue and the screen if they do not exist'),
    replace: option.flag('--replace', 'revoke the TV that is now on the screen, then pair another'),
    ...pairingOptions('why the old TV is revoked; recorded in the audit trail'),
    all: option.flag('--all', 'pair all screens of the venue that have no TV'),
  },
  examples: [
    ['signage pair', 'asks for venue and screen, then shows what to do'],
    ['signage pair Lobby/Main', 'one screen'],
    [
      'signage pair Lobby/Main --replace --reason "Panel is broken"',
      'revokes the TV on the screen and pairs another',
    ],
    ['signage pair --venue Lobby --all', 'every screen of the venue without a TV'],
    [
      'signage pair --venue Lobby --screen Main --create -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
    [
      'signage pair Lobby/Main --wait-for registered --timeout 2m -o ndjson',
      'ends when a TV has registered; exit code 8 after two minutes',
    ],
  ],
  effect: 'changes',
  hints: { screen_already_bound: 'To revoke the TV on the screen: signage pair … --replace' },
  async run(call) {
    const { runPair } = await import('../pair/run-pair.ts');
    return runPair(call, call.options);
  },
});
