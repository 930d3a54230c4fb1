import * as option from '../../input/option.ts';
import { selectorOption } from '../../input/selector.ts';
import { defineCommand, optional } from '../../program/spec.ts';
import { claimHints } from '../../records/claim-hints.ts';
import { pairingOptions } from './pairing-options.ts';

export const pair = defineCommand({
  summary: 'Pair a TV with a screen, step by step',
  description: `Creates a pairing code and shows it. Type the code on the TV. The command then
follows the TV until it has registered, fetched its playlist and sent its first event. At a terminal
it asks for missing arguments, and ends early if the screen has no playlist and the token may not
publish one. It replaces expired codes. Stopping the command cancels the code. --all --tv takes
screens by turns, and goes on when a TV has registered. TVs that wait with a shared ticket and have
the serial number of a screen are proposed for it; with --yes and without a terminal, only these. Exit codes: 0 the TV is paired, 5 a TV
registered on the screen with another code, 8 the timeout passed, 9 one of several screens was not
paired.`,
  arguments: { screen: optional('the screen, as VENUE/SCREEN or by its id', 'screen') },
  options: {
    venue: option.text('--venue <venue>', 'the venue, by id or name', 'venue'),
    create: option.flag('--create', 'create the venue and the screen if they do not exist'),
    tv: option.text(
      '--tv [claim]',
      'pair the TV that shows this claim, such as K7Q2MX; without a claim, asks for it',
    ),
    replace: option.flag('--replace', 'revoke the TV that is now on the screen, then pair another'),
    reason: option.text(
      '--reason <text>',
      'why the old TV is revoked; recorded in the audit trail',
    ),
    ...pairingOptions,
    all: option.flag(
      '--all',
      'pair all screens of the venue that have no TV; with --tv, asks for a claim for each in turn',
    ),
    selector: selectorOption('with --all: only screens with these labels'),
    claimsFile: option.text(
      '--claims-file <file>',
      'pair screens with the TVs that show claims: CSV with the columns screen,claim, and venue without --venue; - reads stdin',
    ),
  },
  examples: [
    ['signage pair', 'asks for venue and screen, then shows what to do'],
    ['signage pair Lobby/Main', 'one screen'],
    ['signage pair Lobby/Main --tv K7Q2MX', 'the TV that shows K7Q-2MX; --yes for scripts'],
    [
      'signage pair Lobby/Main --replace --reason "Panel is broken"',
      'revokes the TV on the screen and pairs another',
    ],
    ['signage pair --venue Lobby --all', 'every screen of the venue without a TV'],
    [
      'signage pair --venue Lobby --all --tv',
      'the same, where the TVs show claims: walk from TV to TV and type them',
    ],
    [
      'signage pair --venue Lobby --claims-file claims.csv --yes',
      'for scripts: pairs all TVs of the file at once',
    ],
    [
      'signage pair --venue Lobby --all --codes-file codes.csv',
      'also writes the codes to a file, for the installer at the TVs',
    ],
    [
      'signage pair Lobby/Main --create -o ndjson',
      'for scripts: a line of JSON for each step, the first with the code',
    ],
    [
      'signage pair Lobby/Main --player-link-file player.url --wait-for registered',
      'for a browser that loses its storage: writes the link of the web player, with the key',
    ],
    [
      'signage pair Lobby/Main --wait-for registered --timeout 2m -o ndjson',
      'ends when a TV has registered; exit code 8 after two minutes',
    ],
  ],
  effect: 'changes',
  hints: {
    ...claimHints,
    screen_already_bound: 'To revoke the TV on the screen: signage pair … --replace',
  },
  async run(call) {
    const { runPair } = await import('./run-pair.ts');
    return runPair(call);
  },
});
