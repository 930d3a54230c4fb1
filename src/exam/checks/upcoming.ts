import { entryEditions, entryIdOf, itemOf, itemSeconds } from '../parts/exam-service.ts';
import type { SentEvent } from '../wire/exchange.ts';
import { fail, notApplicable, pass, skip, type TvCheck, type Verdict } from './check.ts';
import type { ExamView } from './exam-view.ts';

const ofEntries = { level: 'should', section: '2.3', part: 'network' } as const;

/**
 * Maximum distance between a switch and the start of the entry, in seconds of TV time: 2 for the
 * TV, and 3 because events have whole seconds.
 */
const maxOffSeconds = 5;
/** As `maxOffSeconds`, for delays of a busy machine, in real milliseconds. */
const slackMs = 300;

type Entry = keyof typeof entryEditions;

/** Returns the plays of an entry. Those of an interrupted exam do not count. */
function playsOf(view: ExamView, entry: Entry): SentEvent[] {
  const since = view.playback.clockAt(view.markedMs('schedule') ?? 0) ?? 0;
  return view.playback.impressions.filter(
    ({ creativeId, seconds = 0 }) =>
      itemOf(creativeId)?.edition === entryEditions[entry] && seconds >= since,
  );
}

/** Returns the start of an impression by the TV's clock, in epoch seconds. */
const startOf = ({ seconds = 0, duration = itemSeconds }: SentEvent) => seconds - duration;

/**
 * Returns whether the TV reported a play of the second entry from its time without a network. Only
 * `upcoming` tells a TV of this entry.
 */
function usesUpcoming(view: ExamView): boolean {
  const back = view.playback.clockAt(view.markedMs('network is back') ?? 0) ?? 0;
  return playsOf(view, 'second').some(({ seconds = 0 }) => seconds < back);
}

const unused = notApplicable(
  'The TV did not switch without a network, so it does not use upcoming.',
);

/** Judges whether the entry began at its switch. */
function judgeSwitch(view: ExamView, entry: Entry): Verdict {
  const switchedMs = view.markedMs(`${entry} switch`);
  if (switchedMs === undefined) return skip('The TV did not fetch its playlist at that time.');
  if (!usesUpcoming(view)) return unused;
  const wanted = view.playback.clockAt(switchedMs);
  const [first] = playsOf(view, entry);
  if (first === undefined || wanted === undefined)
    return fail(`No impression of ${entryIdOf(entry)}.`);
  const offSeconds = startOf(first) - wanted;
  const seen = `The entry began ${Math.abs(offSeconds).toFixed(0)} s of TV time ${offSeconds < 0 ? 'before' : 'after'} the switch.`;
  const limit = maxOffSeconds + slackMs / view.timing.tvSecondMs;
  return Math.abs(offSeconds) <= limit ? pass(seen) : fail(seen);
}

/** Checks of TVs that use `upcoming`. */
export const upcomingChecks: readonly TvCheck[] = [
  {
    ...ofEntries,
    id: 'tv.upcoming.switches',
    title: 'A TV that uses `upcoming` switches at the instant',
    expected: `the first impression of the entry begins within ${maxOffSeconds} seconds`,
    advice: 'Compare `from` with the clock of the service, as the header Date gives it.',
    judge: (view) => judgeSwitch(view, 'first'),
  },
  {
    ...ofEntries,
    id: 'tv.upcoming.switches-offline',
    title: 'A TV that uses `upcoming` switches at the instant without a network',
    expected: `the first impression of the entry begins within ${maxOffSeconds} seconds`,
    advice: 'Keep `upcoming` with the playlist, and fetch its media ahead.',
    judge: (view) => judgeSwitch(view, 'second'),
  },
  {
    ...ofEntries,
    id: 'tv.upcoming.entry-id',
    section: '2.5',
    title: 'A TV that uses `upcoming` names the entry in its impressions',
    expected: 'the `entryId` of the entry whose item was played',
    advice: 'Copy `entryId` into each play and impression. Omit it for the base.',
    judge(view) {
      if (!usesUpcoming(view)) return unused;
      const wrong = (['first', 'second'] as const).flatMap((entry) =>
        playsOf(view, entry).filter(({ entryId }) => entryId !== entryIdOf(entry)),
      );
      return wrong.length === 0
        ? pass('Each impression of an entry names it.')
        : fail(`${wrong.length} impressions of entries name another entry, or none.`);
    },
  },
];
