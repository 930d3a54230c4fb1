import { largest } from '../../domain/numbers/extremes.ts';
import { itemSeconds } from '../parts/exam-service.ts';
import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { fail, notApplicable, pass, skip, type TvCheck } from './check.ts';
import { isRevoked } from './credentials.ts';
import { type ExamView, shown } from './exam-view.ts';
import { deliveryOf, editionOf, hasReported, noImpressions } from './playlist.ts';

const inRevoke = { level: 'must', section: '2.3', part: 'revoke' } as const;

/** Maximum TV seconds between the moment at which an item must leave the screen and its end. */
const maxOffSeconds = 10;
/** As `maxOffSeconds`, for a busy machine, in real milliseconds. */
const slackMs = 300;
/** As `slackMs`, for an end that the TV computes with the whole seconds of `Date`. */
const endSlackMs = 1300;

const limitOf = (view: ExamView, ms = slackMs) => maxOffSeconds + ms / view.timing.tvSecondMs;

/** An edition with one long item, and the exchange that delivered it. */
interface LongEdition {
  edition: number;
  given: TvExchange;
}

/** Returns the editions with a long item that the TV fetched: before and after it was revoked. */
function longEditions(view: ExamView): { held?: LongEdition; ending?: LongEdition } {
  const found: { held?: LongEdition; ending?: LongEdition } = {};
  for (const { name, atMs } of view.marks(/^long edition \d+$/)) {
    const edition = Number(name.slice('long edition '.length));
    const given = deliveryOf(view, edition);
    if (!given) continue;
    if (atMs >= view.revokedMs) found.ending = { edition, given };
    else if (given.atMs < view.revokedMs) found.held = { edition, given };
  }
  return found;
}

const playsOf = (view: ExamView, { edition }: LongEdition): SentEvent[] =>
  view.playback.impressions.filter((event) => editionOf(event) === edition);

/** Returns the end of the last of some plays, by the TV's clock in epoch seconds. */
const lastEnd = (plays: readonly SentEvent[]) => largest(plays.map(({ seconds = 0 }) => seconds));

/** Checks of items that the exam cuts. */
export const endingChecks: readonly TvCheck[] = [
  {
    ...inRevoke,
    id: 'tv.revoke.stops-playing',
    title: 'A revoked TV stops playing',
    expected: 'no impression that ends between the refusal of the key and the next playlist',
    advice: 'After device_key_revoked, drop the playlist and show the idle picture at once.',
    judge(view) {
      const refused = view.exchanges.find((one) => one.atMs >= view.revokedMs && isRevoked(one));
      const { held, ending } = longEditions(view);
      const from = refused && view.playback.clockAt(refused.endMs);
      if (!refused || !ending || from === undefined)
        return skip('The TV got no playlist after it was revoked.');
      if (!held) return skip('The TV did not fetch its last playlist before it was revoked.');
      const seconds = view.tvSeconds(refused.endMs, ending.given.endMs);
      const isMeanwhile = ({ seconds: end = 0 }: SentEvent) => end > from + limitOf(view);
      const late = playsOf(view, held).filter(isMeanwhile);
      const other = view.playback.impressions.filter(
        (event) => isMeanwhile(event) && (event.seconds ?? 0) < from + seconds - maxOffSeconds,
      );
      const wrong = Math.max(late.length, other.length);
      if (wrong > 0) return fail(`${shown(refused)}; ${wrong} impressions end after that.`);
      if (playsOf(view, ending).length === 0)
        return skip('The TV reported no impressions after it was paired again.');
      return pass(
        `${shown(refused)}; no impression ends in the ${seconds.toFixed(0)} s after that.`,
      );
    },
  },
  {
    ...inRevoke,
    id: 'tv.playlist.stops-at-end',
    title: 'The TV stops playing at validUntil',
    expected: `the item leaves the screen within ${maxOffSeconds} seconds, although playlist requests fail`,
    advice: 'Compute the end with the header Date of the answer, and stop without an answer.',
    judge(view) {
      const { ending } = longEditions(view);
      const endMs = ending && view.markedMs(`edition ${ending.edition} ends`);
      const overMs = view.markedMs('end is over');
      if (!ending || endMs === undefined || overMs === undefined)
        return skip('The TV did not get the playlist that ends, because it was not paired again.');
      const plays = playsOf(view, ending);
      const end = view.playback.clockAt(endMs);
      if (plays.length === 0 || end === undefined)
        return hasReported(view, overMs, 0)
          ? fail(`${shown(ending.given)}; no impression of the playlist that ended.`)
          : skip('The TV sent no events after that time.');
      const offSeconds = lastEnd(plays) - end;
      const seen = `The item ended ${Math.abs(offSeconds).toFixed(0)} s ${offSeconds < 0 ? 'before' : 'after'} validUntil.`;
      const limit = limitOf(view, endSlackMs);
      if (Math.abs(offSeconds) > limit) return fail(seen);
      const share = view.playback.share(endMs + limit * view.timing.tvSecondMs, overMs) ?? 0;
      return share <= 0.25 ? pass(seen) : fail(`${seen} Then other items were played.`);
    },
  },
  {
    ...inRevoke,
    id: 'tv.playlist.real-seconds',
    section: '2.5',
    title: 'The TV reports the seconds that an item was really played',
    expected: 'the seconds until the item was cut, not the duration in the playlist',
    advice: 'Measure the time from the first picture of an item until it leaves the screen.',
    judge(view) {
      const { impressions } = view.playback;
      if (impressions.length === 0) return noImpressions;
      if (impressions.every(({ duration }) => duration === undefined))
        return notApplicable('The TV sends no duration.');
      const { held, ending } = longEditions(view);
      const cuts = [held, ending].flatMap((one) => {
        const since = one && view.playback.clockAt(one.given.endMs);
        const plays = one ? playsOf(view, one) : [];
        // A TV may start the item once more, just before it is cut.
        const reported = plays.reduce((sum, { duration = 0 }) => sum + duration, 0);
        return since === undefined || plays.length === 0
          ? []
          : [{ duration: reported, elapsed: lastEnd(plays) - since }];
      });
      const [first] = cuts;
      if (!first) return skip('The TV reported no item that was cut.');
      const wrong = cuts.find(({ duration, elapsed }) => {
        const missing = elapsed - duration;
        return missing < -limitOf(view) || missing > limitOf(view) + 2 * itemSeconds;
      });
      const { duration, elapsed } = wrong ?? first;
      const seen = `${duration.toFixed(0)} s reported of an item that was cut ${elapsed.toFixed(0)} s after its playlist came.`;
      return wrong ? fail(seen) : pass(seen);
    },
  },
];
