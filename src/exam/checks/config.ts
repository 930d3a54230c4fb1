import type { TvOperation } from '../../faults/tv-call.ts';
import { firstConfig, secondConfig } from '../parts/options.ts';
import { fail, pass, skip, type TvCheck, type Verdict } from './check.ts';
import { type ExamView, type Gap, shown } from './exam-view.ts';

const inConfig = { level: 'must', section: '2.4', part: 'config' } as const;

/** Judges whether an operation is called soon after the registration. */
export function judgeFetched(view: ExamView, operation: TvOperation): Verdict {
  const [registered] = view.registrations;
  if (!registered) return skip('The TV did not register.');
  const first = view.of(operation).find(({ number }) => number > registered.number);
  if (!first) return fail(`${shown(registered)}; no such request came.`);
  const waitedMs = first.atMs - registered.endMs;
  const seen = `First request after ${view.span(waitedMs)}.`;
  return view.isSoonEnough(waitedMs, firstConfig.syncIntervalMinutes) ? pass(seen) : fail(seen);
}

/** Fails if more than a third of the requests lack the `ETag` of the answer before them. */
export function judgeConditional(
  view: ExamView,
  operation: 'getPlaylist' | 'getDeviceConfig',
): Verdict {
  const gaps = view.gaps(operation).filter(({ before }) => before.answer?.etag !== undefined);
  const bare = gaps.filter(({ before, after }) => after.ifNoneMatch !== before.answer?.etag);
  if (gaps.length === 0) return skip('The TV sent no second request.');
  const seen = `${gaps.length - bare.length} of ${gaps.length} requests had the ETag.`;
  return bare[0] && bare.length * 3 > gaps.length
    ? fail(`${seen} ${shown(bare[0].after)}, without the ETag.`)
    : pass(seen);
}

/**
 * Fails if a gap of `gaps` is too long, or if more than a third of the unprompted gaps of `all` are
 * too short.
 */
function judgeGaps(view: ExamView, gaps: readonly Gap[], all: readonly Gap[]): Verdict {
  if (gaps.length + all.length === 0) return skip('The TV sent too few requests to measure.');
  const late = gaps.find(({ ms, maxMinutes }) => !view.isSoonEnough(ms, maxMinutes));
  const own = all.filter(({ isPrompted }) => !isPrompted);
  const early = own.filter(({ ms, minMinutes }) => !view.isLateEnough(ms, minMinutes));
  const wrong = late ?? (early.length * 3 > own.length ? early[0] : undefined);
  const measured = gaps.length > 0 ? gaps : all;
  const spans = measured.map(({ ms }) => view.span(ms)).slice(0, 5);
  if (!wrong) return pass(`Gaps of ${spans.join(', ')}.`);
  const { after, ms, maxMinutes } = wrong;
  return fail(
    `${shown(after)}, ${view.span(ms)} after the answer before it. The interval was ${maxMinutes} min.`,
  );
}

const syncGaps = (view: ExamView) => [...view.gaps('getPlaylist'), ...view.gaps('getDeviceConfig')];

export const configChecks: readonly TvCheck[] = [
  {
    ...inConfig,
    id: 'tv.config.fetched',
    title: 'The TV fetches its config',
    expected: 'a request within 1.5 sync intervals after the registration',
    advice: 'Call GET /devices/:id/config at the start, and then once per sync interval.',
    judge: (view) => judgeFetched(view, 'getDeviceConfig'),
  },
  {
    ...inConfig,
    id: 'tv.config.sync-interval',
    title: 'The TV keeps to the sync interval of its config',
    expected: `gaps of 0.5 to 1.5 times syncIntervalMinutes (at first ${firstConfig.syncIntervalMinutes} min)`,
    advice: 'Wait syncIntervalMinutes between two fetches.',
    judge(view) {
      const all = syncGaps(view);
      const isFirst = ({ minMinutes }: Gap) => minMinutes === firstConfig.syncIntervalMinutes;
      return judgeGaps(view, all.filter(isFirst), all);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.new-interval',
    title: 'The TV takes over a new sync interval',
    expected: `gaps of at most 1.5 times syncIntervalMinutes (now ${secondConfig.syncIntervalMinutes} min)`,
    advice: 'Apply each new config at once, without a restart.',
    judge(view) {
      // Another check judges the period in which requests for the config fail.
      const failingMs = view.faulted('config.500')[0]?.atMs ?? Number.POSITIVE_INFINITY;
      const isSecond = ({ maxMinutes, after }: Gap) =>
        maxMinutes === secondConfig.syncIntervalMinutes && after.atMs < failingMs;
      return judgeGaps(view, syncGaps(view).filter(isSecond), []);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.heartbeat-interval',
    title: 'The TV keeps to the heartbeat interval of its config',
    expected: `0.5 to 1.5 times heartbeatIntervalMinutes, ${firstConfig.heartbeatIntervalMinutes} min`,
    advice: 'Create one heartbeat event every heartbeatIntervalMinutes.',
    judge(view) {
      if (view.of('postEvents').length === 0) return skip('The TV sent no events.');
      const times = view.playback.events
        .filter(({ type }) => type === 'heartbeat')
        .flatMap(({ seconds }) => seconds ?? [])
        .sort((one, other) => one - other);
      const gaps = times
        .slice(1)
        .map((time, at) => time - (times[at] as number))
        .sort((one, other) => one - other);
      const median = gaps[gaps.length >> 1];
      if (median === undefined) return fail(`${times.length} heartbeat events.`);
      const seen = `${times.length} heartbeat events, ${median.toFixed(0)} s apart by their timestamps.`;
      const seconds = 60 * firstConfig.heartbeatIntervalMinutes;
      return median >= 0.5 * seconds && median <= 1.5 * seconds ? pass(seen) : fail(seen);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.keeps-on-500',
    title: 'The TV keeps its config while requests for the config get 500',
    expected: 'playlist requests at the interval of the last config',
    advice: 'Keep the last config until a new config arrives.',
    judge(view) {
      const [first] = view.faulted('config.500');
      const endMs = view.markedMs('config failures end');
      if (view.isQuick) return skip('Only the full exam checks this.');
      if (!first || endMs === undefined)
        return skip('The TV did not ask for its config at that time.');
      const before = view.of('getPlaylist').findLast(({ atMs }) => atMs <= first.endMs);
      const silentMs = first.endMs - (before?.endMs ?? 0);
      if (!view.isSoonEnough(silentMs, secondConfig.syncIntervalMinutes))
        return skip('The TV did not ask for its playlist before the failures, either.');
      const during = view
        .of('getPlaylist')
        .filter(({ atMs }) => atMs > first.endMs && atMs <= endMs);
      return during.length > 0
        ? pass(`${during.length} playlist requests in ${view.span(endMs - first.endMs)}.`)
        : fail(`${shown(first)}; no playlist request in ${view.span(endMs - first.endMs)}.`);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.conditional',
    level: 'should',
    title: 'Requests for the config carry the ETag',
    expected: 'If-None-Match with the ETag of the last answer',
    advice: 'Keep the ETag with the config, and send it as If-None-Match.',
    judge: (view) => judgeConditional(view, 'getDeviceConfig'),
  },
];
