import { isGood } from '../parts/waits.ts';
import type { TvExchange } from '../wire/exchange.ts';
import { fail, notApplicable, notMet, pass, skip, type TvCheck } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const inChanges = { level: 'must', section: '2.9', part: 'changes' } as const;
const notUsed = notApplicable('The TV does not ask for changes.');

/** Minimum TV seconds between two requests with an unchanged cursor: 5, less a tolerance of 0.5. */
const pauseSeconds = 4.5;
/** Maximum TV seconds until a TV fetches the new playlist. */
const fetchSeconds = 10;
const slackMs = 200;

/** Returns each pair of consecutive requests for changes that do not overlap. */
function pairsOf(view: ExamView): { before: TvExchange; after: TvExchange }[] {
  return view.of('getDeviceChanges').flatMap((before) => {
    const after = view.nextOf(before);
    return after && after.atMs >= before.endMs ? [{ before, after }] : [];
  });
}

/**
 * Returns the answers whose playlist `ETag` differs from the TV's. Ignores answers after a failed
 * playlist request.
 */
function newsOf(view: ExamView): TvExchange[] {
  const byEnd = (one: TvExchange, other: TvExchange) => one.endMs - other.endMs;
  const fetched = view.of('getPlaylist').toSorted(byEnd);
  let next = 0;
  return view
    .of('getDeviceChanges')
    .toSorted(byEnd)
    .filter((one) => {
      while ((fetched[next]?.endMs ?? Number.POSITIVE_INFINITY) <= one.endMs) next++;
      if (!isGood(one) || one.answer?.playlistEtag === undefined) return false;
      const held = fetched[next - 1];
      const isFailing = held !== undefined && (held.answer?.status ?? 500) >= 500;
      return !isFailing && held?.answer?.etag !== one.answer.playlistEtag;
    });
}

export const changesChecks: readonly TvCheck[] = [
  {
    ...inChanges,
    id: 'tv.changes.no-hot-loop',
    title: 'Immediate answers do not make the TV send requests in a loop',
    expected: 'at most one request in 5 seconds with the same cursor',
    advice:
      'Wait until 5 seconds have passed since the last request, unless the cursor has changed.',
    judge(view) {
      const pairs = pairsOf(view).filter(
        ({ before, after }) =>
          isGood(before) && before.answer?.cursor === after.after && before.after === after.after,
      );
      const early = pairs.filter(
        ({ before, after }) => view.tvSeconds(before.atMs, after.atMs) < pauseSeconds,
      );
      const [first] = early;
      if (view.of('getDeviceChanges').length === 0) return notUsed;
      if (!pairs.some(({ before }) => before.fault === 'changes.at-once'))
        return notMet(view, 'changes.at-once', 'second request for changes');
      // Tolerates one early request: a busy machine may delay the request before it.
      return first && early.length > 1
        ? fail(
            `${early.length} early requests. ${shown(first.before)}; again after ${view.span(first.after.atMs - first.before.atMs)}.`,
          )
        : pass(`${pairs.length} requests with an unchanged cursor.`);
    },
  },
  {
    ...inChanges,
    id: 'tv.changes.fetches-change',
    title: 'The TV fetches what has changed',
    expected: 'a request for the playlist within 10 seconds',
    advice: 'Compare the ETags of the answer with your own, and fetch what is different.',
    judge(view) {
      const news = newsOf(view);
      if (view.of('getDeviceChanges').length === 0) return notUsed;
      if (news.length === 0) return skip('No answer named a new playlist.');
      const missed = news.find((one) => {
        const next = view.firstOf('getPlaylist', one.endMs);
        return !next || next.atMs - one.endMs > fetchSeconds * view.timing.tvSecondMs + slackMs;
      });
      return missed
        ? fail(`${shown(missed)} named another playlist; the TV did not fetch that playlist.`)
        : pass(`${news.length} changes, each fetched.`);
    },
  },
  {
    ...inChanges,
    id: 'tv.changes.keeps-syncing',
    title: 'The TV keeps polling at the sync interval',
    expected: 'playlist requests at the sync interval',
    advice: 'A request for changes is a hint. Fetch playlist and config at their interval, too.',
    judge(view) {
      if (view.of('getDeviceChanges').length < 3) return notUsed;
      const late = view.lateWait(view.waits('getPlaylist'));
      if (late)
        return fail(`No request for the playlist came in ${view.span(late.toMs - late.fromMs)}.`);
      const own = view.gaps('getPlaylist').filter(({ isPrompted }) => !isPrompted);
      return own.length > 0
        ? pass(`${own.length} gaps without a change.`)
        : skip('A change prompted each of the requests.');
    },
  },
  {
    ...inChanges,
    id: 'tv.changes.cut-shorter',
    level: 'should',
    title: 'After a cut request, the TV asks for a shorter wait',
    expected: 'a smaller waitSeconds',
    advice: 'A proxy cuts early. Ask for 0.8 times the seconds that the last request lasted.',
    judge(view) {
      const [cut] = view.faulted('changes.cut');
      if (view.of('getDeviceChanges').length === 0) return notUsed;
      if (!cut) return notMet(view, 'changes.cut', 'request with waitSeconds');
      const next = view.exchanges.find(
        ({ operation, number, waitSeconds }) =>
          operation === 'getDeviceChanges' && number > cut.number && waitSeconds !== undefined,
      );
      if (!next) return skip('The TV did not ask for changes again.');
      const seen = `waitSeconds ${cut.waitSeconds}, then ${next.waitSeconds}.`;
      return (next.waitSeconds ?? 0) < (cut.waitSeconds ?? 0) ? pass(seen) : fail(seen);
    },
  },
  {
    ...inChanges,
    id: 'tv.changes.503-waits',
    title: 'The TV waits for Retry-After before it asks for changes again',
    expected: 'no request for changes before the time in Retry-After has passed',
    advice: 'After 503, wait for the number of seconds in Retry-After.',
    judge(view) {
      const [refused] = view.faulted('changes.503');
      if (view.of('getDeviceChanges').length === 0) return notUsed;
      if (!refused) return notMet(view, 'changes.503', 'request for changes');
      const next = view.nextOf(refused);
      if (!next) return skip('The TV did not ask for changes again.');
      const waitedMs = next.atMs - refused.endMs;
      const seen = `${shown(refused)}; the next after ${view.span(waitedMs)}.`;
      return view.isAfter(refused.answer?.retryAfterSeconds ?? 0, waitedMs)
        ? pass(seen)
        : fail(seen);
    },
  },
  {
    ...inChanges,
    id: 'tv.changes.404-stops',
    title: 'The TV stops asking for changes after 404',
    expected: 'no further request for changes',
    advice: 'The service has no such endpoint. Ask again in 24 hours.',
    judge(view) {
      const [missing] = view.faulted('changes.404');
      if (view.of('getDeviceChanges').length === 0) return notUsed;
      if (!missing) return notMet(view, 'changes.404', 'request for changes');
      // A TV may ask for changes again after a restart.
      const endMs = view.markedMs('power goes') ?? Number.POSITIVE_INFINITY;
      const again = view
        .of('getDeviceChanges')
        .filter(({ atMs, key }) => atMs > missing.endMs && atMs < endMs && key === missing.key);
      const [first] = again;
      if (first) return fail(`${shown(missing)}; ${again.length} more requests. ${shown(first)}.`);
      const others = view.exchanges.filter(
        ({ atMs, key }) => atMs > missing.endMs && atMs < endMs && key === missing.key,
      );
      return others.length > 0
        ? pass(`${shown(missing)}; none for changes among ${others.length} further requests.`)
        : skip(`${shown(missing)}; the TV sent no other request.`);
    },
  },
];
