import { defineCommand, optional } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { pairingOptions } from '../pair/pairing-options.ts';

export const command = defineCommand({
  summary: 'Pair a TV with a screen, step by step',
  description:
    'Makes a pairing code, shows it until a TV has registered with it, and follows the TV until it has fetched its playlist and sent its first ' +
    'event. At a terminal it asks for what is not said, and renews codes until there is a TV. Ended before that, it cancels the code.',
  arguments: { screen: optional('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: {
    venue: option.text('--venue <venue>', 'the venue, by id or name', 'venue'),
    screen: option.text('--screen <screen>', 'the screen in it, by id or name'),
    create: option.flag('--create', 'make venue and screen if they are not there'),
    replace: option.flag('--replace', 'revoke the device that is on the screen, to pair another'),
    ...pairingOptions('why that device is revoked; recorded'),
    all: option.flag('--all', 'pair all screens of the venue that wait for a TV'),
  },
  examples: [
    ['signage pair', 'asks for venue and screen, and shows what to do'],
    ['signage pair Lobby/Main', 'that screen'],
    [
      'signage pair Lobby/Main --replace --reason "Panel is broken"',
      'takes the TV off it that is there, and pairs another',
    ],
    ['signage pair --venue Lobby --all', 'every screen of the venue that waits for a TV'],
    [
      'signage pair --venue Lobby --screen Main --create -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
    [
      'signage pair Lobby/Main --wait-for registered --timeout 2m -o ndjson',
      'ends as soon as a TV has registered, or after two minutes with 8',
    ],
  ],
  effect: 'changes',
  hints: { screen_already_bound: 'To revoke the device that is there: signage pair … --replace' },
  async run(call) {
    const { runPair } = await import('../pair/run-pair.ts');
    return runPair(call, call.options);
  },
});
