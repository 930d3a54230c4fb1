import {
  countConditions,
  readFailOn,
  readFleetStatus,
  restoredWebhooksText,
  resumeCommand,
  statusView,
} from '../../glass/fleet-status.ts';
import { statusOptions } from '../../glass/status-options.ts';
import * as option from '../../input/option.ts';
import { limitPages } from '../../output/results.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { emptyText } from '../../program/first-step.ts';
import { defineCommand } from '../../program/spec.ts';
import { noneMatches } from '../../records/select-screens.ts';

export const status = defineCommand({
  summary: 'Show what is on each screen, and which screens show nothing',
  description: `Lists the screens with their condition, the worst first:

- dark: its TV does not call
- stopped: the app of its TV was stopped
- failing: items fail, and nothing plays
- silent: its TV calls, but no longer reports that it plays
- hidden: the page of its TV is hidden, such as by a display that is off
- asleep: it is one of these, outside its hours
- partly_failing: it plays, but some items fail
- outdated: it plays an older version of its playlist
- never_seen: its TV was paired, and has not called yet
- unconfirmed: its TV calls, and has not reported that it plays
- idle: it has no playlist
- unpaired: it has no TV
- playing: it plays

GLASS says what plays, or why nothing does. Exit codes: 0 no screen is dark, stopped, failing,
silent or hidden, 9 one is, 3 no screen matches. --fail-on chooses the conditions that give 9. Unless it is
none, webhooks that a restore has paused give 9, too.`,
  options: {
    ...statusOptions,
    failOn: option.text(
      '--fail-on <conditions>',
      'end with exit code 9 for these conditions, with commas, or none; default: dark,stopped,failing,silent,hidden',
    ),
    watch: option.flag('--watch', 'redraw every five seconds, until Ctrl-C'),
  },
  examples: [
    ['signage status', 'the whole fleet'],
    ['signage status --venue Lobby --watch', 'one venue, redrawn every five seconds'],
    ['signage status -o name --quiet --fail-on dark', 'for scripts: exit code 9 if one is dark'],
    [
      `signage status -o json --jq '.[] | select(.condition == "failing") | .name'`,
      'the names of the screens whose items fail',
    ],
  ],
  list: true,
  async run(call) {
    const { watch, failOn, ...options } = call.options;
    const bad = readFailOn(failOn);
    if (watch) return (await import('./watch-status.ts')).watchStatus(call, options);
    const screens = await readFleetStatus(call, options);
    const hasSelection = options.venue.length > 0 || options.selector.length > 0;
    if (screens.length === 0 && hasSelection && options.condition === undefined)
      throw noneMatches(call, '');
    await call.results.list(limitPages([screens], call.common.limit), statusView);
    const isEmpty = screens.length === 0 && options.condition === undefined;
    call.note(isEmpty ? emptyText('listScreens') : `${countConditions(screens)}.`);
    const paused = await restoredWebhooksText(call);
    if (paused !== undefined) call.note(`${paused} When this service may notify: ${resumeCommand}`);
    const isBad = screens.some(({ condition }) => bad.includes(condition));
    return isBad || (paused !== undefined && bad.length > 0) ? failedExitCode : 0;
  },
});
