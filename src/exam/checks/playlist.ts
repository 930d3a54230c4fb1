import { campaignId, itemCount, itemOf, itemSeconds } from '../parts/exam-service.ts';
import { isGood } from '../parts/waits.ts';
import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { fail, notMet, pass, skip, type TvCheck } from './check.ts';
import { judgeConditional, judgeFetched } from './config.ts';
import { type ExamView, shown } from './exam-view.ts';

const inPlaylist = { level: 'must', section: '2.3', part: 'playlist' } as const;
export const noImpressions = skip('The TV reported no impressions.');
const percent = (share: number) => `${Math.round(100 * share)} % of the time`;

/** Maximum TV seconds until a TV has finished its item and started the next playlist. */
const switchSeconds = 2 * itemSeconds + 2;
/** TV seconds within which a TV plays each item of a new playlist at least once. */
const roundSeconds = itemCount * itemSeconds + switchSeconds;

/** Returns the time at which the network part begins. All earlier parts have ended by then. */
const networkMs = (view: ExamView) => view.markedMs('network goes') ?? Number.POSITIVE_INFINITY;

const isGone = ({ answer }: TvExchange) => answer?.code === 'playlist_not_found';
export const editionOf = ({ creativeId }: SentEvent) => itemOf(creativeId)?.edition;

/** Returns the exchange that first delivered an edition to the TV. */
export function deliveryOf(view: ExamView, edition: number): TvExchange | undefined {
  const publishedMs = view.markedMs(`edition ${edition}`) ?? Number.POSITIVE_INFINITY;
  return view
    .of('getPlaylist')
    .find((one) => one.endMs >= publishedMs && isGood(one) && one.answer?.status === 200);
}

/** Returns each edition of short items that the TV fetched, with the exchange that delivered it. */
function deliveries(view: ExamView): { edition: number; given: TvExchange }[] {
  return view.marks(/^edition \d+$/).flatMap(({ name }) => {
    const edition = Number(name.slice('edition '.length));
    const isLong = view.markedMs(`long ${name}`) !== undefined;
    const given = isLong ? undefined : deliveryOf(view, edition);
    return given ? [{ edition, given }] : [];
  });
}

/**
 * Returns whether the service accepted a batch more than `seconds` of TV time after `sinceMs`, and
 * before the next registration. A revoked TV drops its events, so a later batch proves nothing.
 */
export function hasReported(view: ExamView, sinceMs: number, seconds: number): boolean {
  const next = view.registrations.find(({ endMs }) => endMs > sinceMs);
  return view
    .of('postEvents')
    .filter(({ atMs }) => next === undefined || atMs < next.atMs)
    .some((one) => isGood(one) && view.tvSeconds(sinceMs, one.atMs) > seconds);
}

const tooFew = skip('The TV reported too few impressions, one right after the other.');
/** Delay between two items that a busy machine may cause, in real milliseconds. */
const delayMs = 100;

/** Returns the seconds between the ends of each item and the next one of its edition. */
function spansOf(impressions: readonly SentEvent[]): number[] {
  return impressions.flatMap((event, at) => {
    const before = impressions[at - 1];
    const item = itemOf(event.creativeId);
    const itemBefore = itemOf(before?.creativeId);
    const isNext = item && item.index === ((itemBefore?.index ?? 0) + 1) % itemCount;
    return isNext && item.edition === itemBefore?.edition
      ? [(event.seconds ?? 0) - (before?.seconds ?? 0)]
      : [];
  });
}

/** Returns for each item that was played right after another one whether it was the next one. */
function successions(impressions: readonly SentEvent[]): boolean[] {
  return impressions.flatMap((event, at) => {
    const before = impressions[at - 1];
    const item = itemOf(event.creativeId);
    const itemBefore = itemOf(before?.creativeId);
    if (!before || !item || item.edition !== itemBefore?.edition) return [];
    // After a pause, the playlist may restart, or an impression may be missing.
    const apart = (event.seconds ?? 0) - (before.seconds ?? 0);
    return apart < 1.8 * itemSeconds ? [item.index === (itemBefore.index + 1) % itemCount] : [];
  });
}

export const playlistChecks: readonly TvCheck[] = [
  {
    ...inPlaylist,
    id: 'tv.playlist.fetched',
    title: 'The TV fetches its playlist',
    expected: 'a request within 1.5 sync intervals after the registration',
    advice: 'Call GET /devices/:id/playlist at the start, and then once per sync interval.',
    judge: (view) => judgeFetched(view, 'getPlaylist'),
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.conditional',
    level: 'should',
    title: 'Requests for the playlist carry the ETag',
    expected: 'If-None-Match with the ETag of the last answer',
    advice: 'Keep the ETag with the playlist, and send it as If-None-Match.',
    judge: (view) => judgeConditional(view, 'getPlaylist'),
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.impressions',
    section: '2.5',
    title: 'The TV reports what it played',
    expected: 'impressions with playlistId, creativeId and campaignId of the playlist',
    advice: 'After each item, queue an impression with the ids of the playlist and the item.',
    judge(view) {
      const { impressions } = view.playback;
      const given = new Set(view.of('getPlaylist').map(({ answer }) => answer?.playlistId));
      const wrong = impressions.filter(
        (event) =>
          !itemOf(event.creativeId) ||
          event.campaignId !== campaignId ||
          event.playlistId === undefined ||
          !given.has(event.playlistId),
      );
      if (view.of('postEvents').length === 0) return skip('The TV sent no events.');
      if (impressions.length === 0) return fail('The TV reported no impressions.');
      return wrong.length === 0
        ? pass(`${impressions.length} impressions.`)
        : fail(`${wrong.length} of ${impressions.length} impressions name other ids.`);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.order',
    title: 'The TV plays the items in order',
    expected:
      'impressions in the order of the playlist, repeatedly; at most one in ten out of order',
    advice: 'Play items in order, and begin again after the last item.',
    judge(view) {
      const { impressions } = view.playback;
      const all = successions(impressions);
      if (all.length < itemCount) return tooFew;
      const wrong = all.filter((isNext) => !isNext).length;
      const seen = `${wrong} of ${all.length} impressions out of order.`;
      return wrong * 10 > all.length ? fail(seen) : pass(seen);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.durations',
    title: 'The TV shows each item for its duration',
    expected: `about ${itemSeconds} s from one impression to the next`,
    advice: 'Show each item for its duration, and then the next one at once.',
    judge(view) {
      const spans = spansOf(view.playback.impressions).sort((one, other) => one - other);
      const median = spans[spans.length >> 1];
      if (median === undefined || spans.length < itemCount) return tooFew;
      const seen = `${median.toFixed(1)} s from one impression to the next, mostly.`;
      const most = 1.5 * itemSeconds + delayMs / view.timing.tvSecondMs;
      return median >= 0.7 * itemSeconds && median <= most ? pass(seen) : fail(seen);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.new-version',
    title: 'The TV plays a new version of its playlist',
    expected: 'impressions of the items of the new version, and no others',
    advice: 'Replace the whole playlist when a request gets 200.',
    judge(view) {
      const { impressions } = view.playback;
      const newer = deliveries(view).filter(({ edition }) => edition > 1);
      if (newer.length === 0) return skip('The TV fetched no second version.');
      if (impressions.length === 0) return noImpressions;
      for (const { edition, given } of newer) {
        const sinceSeconds =
          (view.playback.clockAt(given.endMs) ?? 0) + switchSeconds + itemSeconds;
        const stale = impressions.filter(
          (event) => (editionOf(event) ?? edition) < edition && (event.seconds ?? 0) > sinceSeconds,
        );
        if (stale.length > 1)
          return fail(`${shown(given)}; then ${stale.length} impressions of the old version.`);
        const isNewest = edition === newer.at(-1)?.edition;
        const isPlayed = impressions.some((event) => editionOf(event) === edition);
        if (isNewest && !isPlayed)
          return hasReported(view, given.endMs, roundSeconds)
            ? fail(`${shown(given)}; no impression of the new version.`)
            : skip('The TV sent no events after the new version.');
      }
      return pass(`${newer.length} new versions.`);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.plays-on-500',
    title: 'The TV plays on while its playlist cannot be fetched',
    expected: 'impressions that cover at least half of the time',
    advice: 'Keep the playlist, and keep playing it, after each 5xx.',
    judge(view) {
      const first = view.faulted('playlist.500-retry-after')[0] ?? view.faulted('playlist.500')[0];
      const endMs = view.markedMs('playlist failures end');
      if (!first || endMs === undefined)
        return notMet(view, 'playlist.500', 'request for its playlist');
      const isPairing = view.registrations.some(
        ({ endMs: registeredMs }) => registeredMs > first.endMs && registeredMs < networkMs(view),
      );
      if (isPairing) return skip('The TV lost its key at that time.');
      if (!view.hadPlaylist(first.atMs)) return skip('The TV had no playlist at that time.');
      if (!hasReported(view, endMs, 0)) return skip('The TV sent no events after that time.');
      const fromMs = first.endMs + switchSeconds * view.timing.tvSecondMs;
      const share = view.playback.share(fromMs, endMs);
      if (share === undefined) return skip('The time was too short to measure.');
      const seen = `${shown(first)}; the TV played ${percent(share)} until the end of the failures.`;
      return share >= 0.5 ? pass(seen) : fail(seen);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.stops-on-404',
    title: 'The TV stops playing a playlist that was withdrawn',
    expected: 'impressions in at most a quarter of the time after 404 playlist_not_found',
    advice: 'After 404 playlist_not_found, drop the playlist and show the idle picture.',
    judge(view) {
      const gone = view.of('getPlaylist').find(isGone);
      const backMs = view.markedMs('playlist comes back');
      if (!gone || backMs === undefined)
        return notMet(view, 'playlist.500', 'request for its playlist');
      if (view.playback.impressions.length === 0) return noImpressions;
      if (!hasReported(view, backMs, 0)) return skip('The TV sent no events after that time.');
      const share = view.playback.share(
        gone.endMs + switchSeconds * view.timing.tvSecondMs,
        backMs,
      );
      if (share === undefined) return skip('The time was too short to measure.');
      const seen = `${shown(gone)}; then the TV played ${percent(share)}.`;
      return share <= 0.25 ? pass(seen) : fail(seen);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.asks-after-404',
    title: 'The TV keeps asking for a playlist',
    expected: 'a request after 0.5 to 1.5 sync intervals',
    advice: 'After 404 playlist_not_found, ask again at the usual interval.',
    judge(view) {
      const gone = view.of('getPlaylist').find(isGone);
      if (!gone) return notMet(view, 'playlist.500', 'request for its playlist');
      const next = view.nextOf(gone);
      if (!next) return fail(`${shown(gone)}; the TV did not ask again.`);
      const minutes = view.syncMinutesAt(gone.endMs);
      const waitedMs = next.atMs - gone.endMs;
      const seen = `${shown(gone)}; again after ${view.span(waitedMs)}. The interval was ${minutes} min.`;
      const isEarly = !view.isPrompted(gone, next) && !view.isLateEnough(waitedMs, minutes);
      return view.isSoonEnough(waitedMs, minutes) && !isEarly ? pass(seen) : fail(seen);
    },
  },
  {
    ...inPlaylist,
    id: 'tv.playlist.plays-again',
    title: 'The TV plays again when its screen has a playlist again',
    expected: 'impressions of the playlist published after the 404',
    advice: 'Start to play as soon as a request returns a playlist.',
    judge(view) {
      const gone = view.of('getPlaylist').find(isGone);
      const endMs = networkMs(view);
      const back = deliveries(view).find(
        ({ given }) => given.number > (gone?.number ?? 0) && given.atMs < endMs,
      );
      if (!gone || !back) return skip('The TV fetched no playlist after the 404.');
      const { impressions } = view.playback;
      if (impressions.length === 0) return noImpressions;
      if (impressions.some((event) => editionOf(event) === back.edition))
        return pass('The TV reported impressions.');
      return hasReported(view, back.given.endMs, roundSeconds)
        ? fail(`${shown(back.given)}; no impression of its items.`)
        : skip('The TV sent no events after that time.');
    },
  },
];
