import { defineCommand, many, one, some } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { selectionOptions } from '../options/select-screens.ts';
import { allowOutsideOption } from '../playlist/media/command.ts';

const set = defineCommand({
  summary: 'Show something above everything else for a while',
  description: `Shows pictures, videos, pages, URLs, or a playlist file (.yaml, .yml or .json), instead
of the playlist, the schedule and the on-demand source of the screens. It ends by itself, and what
was there before is back. A new takeover replaces the one before. apply never touches takeovers.
With --venue or --selector, all words are files.`,
  arguments: { what: many('the screen, by name or id, then files or URLs', 'screen') },
  options: {
    for: option.optionalDuration('--for <time>', 'how long, such as 30m or 2h'),
    until: option.text('--until <time>', 'the end: ISO 8601, epoch seconds or a time span'),
    duration: option.optionalDuration(
      '--duration <time>',
      'how long each item stays, such as 15s; default: 10s, and the length of a video',
    ),
    allowOutside: allowOutsideOption,
    ...selectionOptions,
  },
  examples: [
    ['signage takeover set Lobby/Main notice.png --for 30m', 'a picture on one screen'],
    ['signage takeover set --venue Lobby alarm.html --for 2h', 'all screens of a venue'],
    [
      'signage takeover set --selector role=menu match.yaml --until 2026-12-05T20:00:00Z',
      'a playlist on all screens with a label',
    ],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-takeover.ts')).runSetTakeover(call);
  },
});

const get = defineCommand({
  summary: 'Show the takeover of a screen',
  arguments: { screen: one('its id or name', 'screen') },
  examples: [['signage takeover get Lobby/Main', 'its end and number of items']],
  async run(call) {
    await (await import('./run-takeover.ts')).runGetTakeover(call);
  },
});

const clear = defineCommand({
  summary: 'End the takeover of one or more screens now',
  description: 'What was there before is back. Screens without a takeover are not changed.',
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: selectionOptions,
  examples: [
    ['signage takeover clear Lobby/Main', 'asks first'],
    ['signage takeover clear --venue Lobby --yes', 'does not ask first'],
  ],
  effect: 'destroys',
  async run(call) {
    return (await import('./run-takeover.ts')).runClearTakeover(call);
  },
});

export const takeover = { set, get, clear };
