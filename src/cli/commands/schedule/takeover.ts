import { allowOutsideOption, forceOption } from '../../examination/options.ts';
import { waitOption } from '../../glass/wait-option.ts';
import * as option from '../../input/option.ts';
import { defineCommand, many, one, some } from '../../program/spec.ts';
import { selectionOptions } from '../../records/select-screens.ts';

const set = defineCommand({
  summary: 'Show something above everything else for a while',
  description: `Shows pictures, videos, pages, URLs, or a playlist file (.yaml, .yml or .json), instead
of the playlist, the schedule and the on-demand source of the screens. It ends by itself, and what
was there before is back. A new takeover replaces the one before. apply never touches takeovers.
With --venue or --selector, all words are files. Files and URLs are examined first, URLs for at most 3
seconds: what no TV shows is refused. At a terminal, the command waits up to 60 seconds
until the TVs say that they show it. --wait ends with exit code 8 if none says so in time, and with 9
if only some do.`,
  arguments: { what: many('the screen, by name or id, then files or URLs', 'screen') },
  options: {
    for: option.optionalDuration('--for <time>', 'how long, such as 30m or 2h', 'm'),
    until: option.text(
      '--until <time>',
      'the end: local time, ISO 8601, epoch seconds or a time span',
    ),
    duration: option.optionalDuration(
      '--duration <time>',
      'how long each item stays, such as 15s; default: 10s, and the length of a video',
    ),
    allowOutside: allowOutsideOption,
    force: forceOption,
    wait: waitOption,
    ...selectionOptions,
  },
  examples: [
    ['signage takeover set Lobby/Main notice.png --for 30m', 'a picture on one screen'],
    ['signage takeover set --venue Lobby alarm.html --for 2h', 'all screens of a venue'],
    [
      'signage takeover set --all fire.png --for 1h --wait 10s',
      'until all TVs say that they show it',
    ],
    [
      "signage takeover set --selector role=menu match.yaml --until '2026-12-05 20:00'",
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
  options: { wait: waitOption, ...selectionOptions },
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
