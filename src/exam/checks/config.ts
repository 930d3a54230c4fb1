import { largest } from '../../domain/numbers/extremes.ts';
import type { TvOperation } from '../../faults/tv-call.ts';
import { firstConfig, secondConfig } from '../parts/options.ts';
import type { TvExchange } from '../wire/exchange.ts';
import { fail, notMet, pass, skip, type TvCheck, type Verdict } from './check.ts';
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

const polled = ['getPlaylist', 'getDeviceConfig'] as const;
const nameOf = { getPlaylist: 'playlist', getDeviceConfig: 'config' } as const;
type Polled = (typeof polled)[number];

/** Returns the text of a gap that is too long or too short. */
function wrongGap(view: ExamView, { after, ms, maxMinutes }: Gap): string {
  return `${shown(after)}, ${view.span(ms)} after the answer before it. The interval was ${maxMinutes} min.`;
}

/**
 * Judges the gaps of each operation by itself, so that one does not cover for the other. Fails if a
 * gap is too long. With `isExact`, also fails if more than a third of the gaps that no change has
 * shortened are too short. A gap that a change has shortened proves nothing.
 */
function judgeGaps(view: ExamView, isMeant: (gap: Gap) => boolean, isExact: boolean): Verdict {
  const texts: string[] = [];
  const unseen: Polled[] = [];
  for (const operation of polled) {
    const gaps = view.gaps(operation).filter(isMeant);
    const late = gaps.find(({ ms, maxMinutes }) => !view.isSoonEnough(ms, maxMinutes));
    if (late) return fail(wrongGap(view, late));
    const own = gaps.filter(({ isPrompted }) => !isPrompted);
    const early = own.filter(({ ms, minMinutes }) => !view.isLateEnough(ms, minMinutes));
    if (isExact && early[0] && early.length * 3 > own.length) return fail(wrongGap(view, early[0]));
    const spans = own.map(({ ms }) => view.span(ms)).slice(0, 4);
    if (spans.length === 0) unseen.push(operation);
    else texts.push(`${nameOf[operation]}: gaps of ${spans.join(', ')}`);
  }
  return unseen.length === 0
    ? pass(`${texts.join('; ')}.`)
    : skip(
        `No gap between two requests for the ${unseen.map((one) => nameOf[one]).join(' and ')} was measured.`,
      );
}

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
    id: 'tv.config.refetched',
    title: 'The TV fetches its config again',
    expected: 'a request for the config within 1.5 sync intervals after the last one',
    advice: 'Call GET /devices/:id/config once per sync interval, for as long as the TV runs.',
    judge(view) {
      const waits = view.waits('getDeviceConfig');
      const late = view.lateWait(waits);
      const again = waits.filter(({ isOpen }) => !isOpen);
      if (view.of('getDeviceConfig').length === 0) return skip('The TV never fetched its config.');
      if (late)
        return fail(
          `No request for the config came in ${view.span(late.toMs - late.fromMs)}. The interval was ${view.syncMinutesAt(late.fromMs)} min.`,
        );
      return again.length > 0
        ? pass(
            `${again.length} times, after ${view.span(largest(again.map(({ fromMs, toMs }) => toMs - fromMs)))} at most.`,
          )
        : skip('The exam was too short to see a second request for the config.');
    },
  },
  {
    ...inConfig,
    id: 'tv.config.sync-interval',
    title: 'The TV keeps to the sync interval of its config',
    expected: 'gaps of 0.5 to 1.5 times syncIntervalMinutes, for the playlist and for the config',
    advice: 'Wait syncIntervalMinutes between two fetches of each.',
    judge(view) {
      const late = view.lateWait(view.waits('getPlaylist'));
      return late
        ? fail(`No request for the playlist came in ${view.span(late.toMs - late.fromMs)}.`)
        : judgeGaps(view, () => true, true);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.new-interval',
    title: 'The TV takes over a new sync interval',
    expected: `gaps of at most 1.5 times syncIntervalMinutes (${firstConfig.syncIntervalMinutes} min, then ${secondConfig.syncIntervalMinutes} min)`,
    advice: 'Apply each new config at once, without a restart.',
    judge(view) {
      // Another check judges the period in which requests for the config fail.
      const failingMs = view.faulted('config.500')[0]?.atMs ?? Number.POSITIVE_INFINITY;
      const overMs = view.markedMs('config failures end') ?? Number.POSITIVE_INFINITY;
      const isSecond = ({ maxMinutes, before, after }: Gap) =>
        maxMinutes === secondConfig.syncIntervalMinutes &&
        (after.atMs < failingMs || before.atMs > overMs);
      return judgeGaps(view, isSecond, false);
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
      // Without a key, a TV has no interval to keep.
      const paired = view.registrations.map(({ endMs }) => view.playback.clockAt(endMs) ?? 0);
      const gaps = times
        .slice(1)
        .map((to, at) => ({ from: times[at] as number, to }))
        .filter(({ from, to }) => !paired.some((at) => from < at && at < to))
        .map(({ from, to }) => to - from)
        .sort((one, other) => one - other);
      const median = gaps[(gaps.length - 1) >> 1];
      if (median === undefined && paired.length > 1)
        return skip('The TV paired again before it sent two heartbeat events.');
      if (median === undefined) return fail(`${times.length} heartbeat events.`);
      const seen = `${times.length} heartbeat events, ${median.toFixed(0)} s apart by their timestamps.`;
      const seconds = 60 * firstConfig.heartbeatIntervalMinutes;
      return median >= 0.5 * seconds && median <= 1.5 * seconds ? pass(seen) : fail(seen);
    },
  },
  {
    ...inConfig,
    id: 'tv.config.keeps-on-500',
    needsFullExam: true,
    title: 'The TV keeps its config while requests for the config get 500',
    expected: 'playlist requests at the interval of the last config',
    advice: 'Keep the last config until a new config arrives.',
    judge(view) {
      const [first] = view.faulted('config.500');
      const endMs = view.markedMs('config failures end');
      if (!first || endMs === undefined)
        return notMet(view, 'config.500', 'request for its config');
      const before = view.of('getPlaylist').findLast(({ atMs }) => atMs <= first.endMs);
      const silentMs = first.endMs - (before?.endMs ?? 0);
      if (!view.isSoonEnough(silentMs, secondConfig.syncIntervalMinutes))
        return skip('The TV did not ask for its playlist before the failures, either.');
      // A request right after the first failure may belong to the same round of requests.
      const isNextRound = ({ atMs }: TvExchange) =>
        atMs <= endMs && view.isLateEnough(atMs - first.endMs, secondConfig.syncIntervalMinutes);
      const rounds = view.of('getPlaylist').filter(isNextRound).length;
      const span = view.span(endMs - first.endMs);
      return rounds > 0
        ? pass(`${rounds} playlist requests in ${span}, besides those of the first round.`)
        : fail(`${shown(first)}; no further round of requests in ${span}.`);
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
