import { SignageError } from '../../domain/error.ts';
import { failedExitCode } from '../command/exit-code.ts';
import { defineCommand } from '../command/spec.ts';
import * as option from '../options/option.ts';
import { selectorOption } from '../options/selector.ts';
import { limitPages } from '../output/results.ts';
import { countStatuses, readFleetStatus } from '../status/fleet-status.ts';
import { statusView } from '../status/status-view.ts';
import { watchStatus } from '../status/watch-status.ts';

export const status = defineCommand({
  summary: 'Show which screens are dark, and what they play',
  description: `Lists the worst screens first:

dark      it has a TV, which is offline
failing   its TV is online and has no playlist, or not the newest version
unpaired  it has no TV
ok        all others

PLAYLIST is the newest version of the playlist, GIVEN the version that the TV was given last. LAST
ERROR includes playback errors of the last hour. Exit codes: 0 no screen is dark, 9 a screen is
dark, 3 no screen matches.`,
  options: {
    venue: option.text('--venue <venue>', 'only screens of this venue, by id or name', 'venue'),
    selector: selectorOption('only screens with these labels'),
    darkAfter: option.optionalDuration(
      '--dark-after <time>',
      'a screen is dark when its TV was not seen for this time, such as 30m; default: twice its longest interval, 10 minutes with the default config',
    ),
    watch: option.flag('--watch', 'redraw every five seconds, until Ctrl-C'),
  },
  examples: [
    ['signage status', 'the whole fleet'],
    ['signage status --venue Lobby --watch', 'one venue, redrawn'],
    ['signage status --dark-after 1h -o name --quiet', 'for scripts: exit code 9 if one is dark'],
    [
      `signage status -o json --jq '.[] | select(.status == "dark") | .name'`,
      'the names of the dark screens',
    ],
  ],
  list: true,
  hints: {
    not_found: 'The service is of an earlier version: update it, or use signage device list.',
  },
  async run(call) {
    const { watch, ...options } = call.options;
    if (watch) return watchStatus(call, options);
    const screens = await readFleetStatus(call, options);
    if (screens.length === 0 && (options.venue !== undefined || options.selector.length > 0))
      throw new SignageError('screen_not_found', 'No screen matches --venue and --selector.', {
        hint: 'signage screen list shows all screens and their labels.',
      });
    const view = statusView(call.common.output);
    await call.results.list(limitPages([screens], call.common.limit), view);
    call.note(`${countStatuses(screens)}.`);
    return screens.some(({ status }) => status === 'dark') ? failedExitCode : 0;
  },
});
