import * as option from '../../input/option.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { selectionOptions } from '../../records/select-screens.ts';

const screens = some('one or more screens, by id or name', 'screen');
const waitOption = option.optionalDuration(
  '--wait <time>',
  'wait until the TVs say that they did it, at most this long; 0: do not wait; default: 60s at a terminal, otherwise 0',
);

export const identify = defineCommand({
  summary: 'Find a TV: it draws its venue, screen and device id',
  description: `Each TV draws the name of its venue and its screen, and the last four characters of its device
id, over the picture, which goes on beneath. It ends by itself. A TV that is off or offline meanwhile does nothing
later. At a terminal, the command waits up to 60 seconds until the TVs say that they have drawn it. --wait ends with
exit code 8 if none says so in time, and with 9 if only some do.`,
  arguments: { screens },
  options: {
    for: option.duration('60s', '--for <time>', 'how long, 1s to 10m'),
    off: option.flag('--off', 'end it now'),
    wait: waitOption,
    ...selectionOptions,
  },
  examples: [
    ['signage identify Lobby/Main', 'which TV is it?'],
    ['signage identify --venue Lobby --for 5m', 'all TVs of a venue, to walk along them'],
    ['signage identify --venue Lobby --off', 'stop before the 5 minutes are over'],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-signal.ts')).runIdentify(call);
  },
});

export const reload = defineCommand({
  summary: 'Make players load themselves anew',
  description: `Each player that runs now stops, sends what it has played, and starts again, as after a restart of the
app. Players that start within the next minutes are new already, and ignore it. At a terminal, the command waits up to
60 seconds until the TVs say that they have started anew. --wait ends with exit code 8 if none says so in time, and
with 9 if only some do.`,
  arguments: { screens },
  options: { wait: waitOption, ...selectionOptions },
  examples: [
    ['signage reload Lobby/Main', 'one player'],
    ['signage reload --venue Lobby', 'all players of a venue'],
  ],
  effect: 'changes',
  async run(call) {
    return (await import('./run-signal.ts')).runReload(call);
  },
});
