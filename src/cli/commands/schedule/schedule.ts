import { allowOutsideOption, forceOption } from '../../examination/options.ts';
import { waitOption } from '../../glass/wait-option.ts';
import * as option from '../../input/option.ts';
import { defineCommand, optional, some } from '../../program/spec.ts';
import { selectionOptions, venueOption } from '../../records/select-screens.ts';

const fileHelp = 'file with the schedule, JSON or YAML; - reads stdin';
const oneVenue = option.text('--venue <venue>', 'instead of a screen: this venue', 'venue');
const ofScreen = { screen: optional('the screen, by id or name', 'screen') };
const ownerOptions = {
  ...selectionOptions,
  venue: venueOption(
    'instead of names: the venue itself; with --selector its screens with these labels',
  ),
};
const shownOptions = {
  file: option.text('-f, --file <file>', fileHelp),
  venue: oneVenue,
  timezone: option.text('--timezone <zone>', 'the time zone, instead of that of the venue'),
  allowOutside: allowOutsideOption,
};

const set = defineCommand({
  summary: 'Set what plays when on screens, or on all screens of a venue',
  description: `The file holds the schedule as YAML or JSON:

  entries:
    - name: Breakfast
      days: [mon, tue, wed, thu, fri]
      from: "06:00"
      to: "11:00"
      playlist: breakfast.yaml   # a playlist file beside this one
    - name: Christmas
      dates: { from: 2026-12-24, until: 2026-12-26 }
      items:                     # or items, as in a playlist file
        - file: closed.png

The first entry that holds plays; without one, the playlist of the screen plays. Times are local times
of the venue. A "to" that is not after "from" is on the next day. An entry with "base: true" instead of
items plays the playlist of the screen. A screen without a schedule of its own follows that of its
venue; --base ends that. Any schedule before is replaced. docs/schedules.md has an example. At a
terminal, the command waits up to 60 seconds until the TVs say that they show what is due. --wait ends
with exit code 8 if none says so in time, and with 9 if only some do.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: {
    file: option.text('-f, --file <file>', fileHelp),
    base: option.flag(
      '--base',
      'no entries: screens play their playlists, whatever their venue has',
    ),
    allowOutside: allowOutsideOption,
    force: forceOption,
    wait: waitOption,
    ...ownerOptions,
  },
  examples: [
    ['signage schedule set --venue Lobby -f week.yaml', 'all screens of a venue'],
    [
      'signage schedule set --venue Lobby -f week.yaml --wait 30s',
      'until its TVs show what is due',
    ],
    ['signage schedule set Lobby/Main -f week.yaml', 'one screen'],
    ['signage schedule set --selector role=menu -f week.yaml', 'each screen with a label'],
    ['signage schedule set Lobby/Main --base', 'plays its playlist, whatever the venue has'],
  ],
  hints: {
    timezone_required: 'Set it: signage venue update VENUE --timezone Europe/Berlin',
  },
  effect: 'changes',
  async run(call) {
    return (await import('./run-set.ts')).runSetSchedule(call);
  },
});

const get = defineCommand({
  summary: 'Show the schedule of a screen or venue',
  arguments: ofScreen,
  options: { venue: oneVenue },
  examples: [
    ['signage schedule get --venue Lobby', 'its entries'],
    ['signage schedule get Lobby/Main -o yaml > week.yaml', 'ready for schedule set'],
  ],
  hints: {
    schedule_not_found:
      'A screen without a schedule of its own follows that of its venue: signage explain says which.',
  },
  async run(call) {
    await (await import('./run-set.ts')).runGetSchedule(call);
  },
});

const clear = defineCommand({
  summary: 'Remove the schedule of screens, or of a venue',
  description: `A screen without a schedule of its own follows that of its venue, or else plays its
playlist.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: ownerOptions,
  examples: [
    ['signage schedule clear Lobby/Main', 'asks first'],
    ['signage schedule clear --venue Lobby --yes', 'does not ask first'],
  ],
  effect: 'destroys',
  async run(call) {
    return (await import('./run-set.ts')).runClearSchedule(call);
  },
});

const check = defineCommand({
  summary: 'Find entries of a schedule that never play',
  description: `Examines the media of the entries, too, as playlist check does. Lists errors (an entry
never plays, needs a time zone that its venue does not have, or has a file that no TV shows), warnings
(an entry is over, or has a file that some TVs do not show) and facts: what hides an entry at times, and when in the coming week the
playlist of the screen plays. With --file alone it needs no service. Exit codes: 0 no error, 9
errors.`,
  arguments: ofScreen,
  options: shownOptions,
  examples: [
    ['signage schedule check -f week.yaml --timezone Europe/Berlin', 'a file'],
    ['signage schedule check -f week.yaml --venue Lobby', 'a file, for the time zone of a venue'],
    ['signage schedule check Lobby/Main', 'the schedule that a screen follows'],
  ],
  async run(call) {
    return (await import('./run-preview.ts')).runCheckSchedule(call);
  },
});

const preview = defineCommand({
  summary: 'Draw what plays on each day of a week',
  description: `One row a day, and one letter an entry. Rows are local days of the venue. A row with *
is a day on which the clocks change: skipped times are blank. With --file alone it needs no service.
Other formats than tables list the times.`,
  arguments: ofScreen,
  options: {
    ...shownOptions,
    from: option.day('--from <date>', 'the first local day; default: today'),
    days: option.wholeNumber([1, 366], 7, '--days <number>', 'number of days'),
  },
  examples: [
    ['signage schedule preview Lobby/Main', 'the coming week'],
    [
      'signage schedule preview -f week.yaml --timezone Europe/Berlin --from 2026-12-21',
      'a file, in the week of Christmas',
    ],
  ],
  async run(call) {
    await (await import('./run-preview.ts')).runPreview(call);
  },
});

export const schedule = { set, get, clear, check, preview };
