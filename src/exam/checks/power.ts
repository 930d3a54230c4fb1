import { largest } from '../../domain/numbers/extremes.ts';
import { itemSeconds } from '../parts/exam-service.ts';
import { isGood } from '../parts/waits.ts';
import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { fail, notApplicable, pass, skip, type TvCheck, type Verdict } from './check.ts';
import { digestsOf, type ExamView, shown } from './exam-view.ts';
import { keyAfter } from './network.ts';

const inPower = { level: 'must', section: '2.6', part: 'power' } as const;
const noPower = (view: ExamView): Verdict =>
  view.markedMs('fault power.lost') === undefined
    ? notApplicable('The power was not cut. Give --power-cmd, or run the exam at a terminal.')
    : skip('The power was not cut, or the TV did not come back.');

/** Whether the TV registered after an outage, before it was revoked. */
const registeredAgain = (view: ExamView, backMs: number): boolean =>
  view.of('registerDevice').some(({ atMs }) => atMs >= backMs && atMs <= view.revokedMs);

/** Time in which the TV may send its queue in several batches, in TV seconds. */
const queueSeconds = 10;

/**
 * Returns a function that finds the events in a batch that the TV created after the power cut. A TV
 * may set its clock when it starts. So an event is older than the start if it is later, by the TV's
 * clock, than the time since the start allows.
 */
function createdAfterPower(view: ExamView): (batch: TvExchange) => SentEvent[] {
  const pending = new Set(view.faulted('power.lost').flatMap(digestsOf));
  const goneMs = view.markedMs('power goes') ?? 0;
  const later = view.of('postEvents').filter(({ atMs }) => atMs >= goneMs);
  const start = later
    .flatMap(({ events }) => events)
    .find(({ type, digest }) => type === 'app_started' && !pending.has(digest));
  const startSeconds = start?.seconds ?? Number.POSITIVE_INFINITY;
  return ({ atMs, events }) => {
    const latest = startSeconds + view.tvSeconds(goneMs, atMs) + 2;
    return events.filter(({ digest, seconds = 0 }) => !pending.has(digest) && seconds <= latest);
  };
}

/**
 * Returns the distinct events that the TV created after the power cut and sent from an exchange on,
 * before it was revoked: a revoked TV does not play. Stops at the last batch accepted within
 * `queueSeconds` of the first one.
 */
function eventsAfterPower(view: ExamView, { atMs: startMs }: TvExchange): SentEvent[] {
  const created = createdAfterPower(view);
  const batches = view
    .of('postEvents')
    .filter(({ atMs }) => atMs >= startMs && atMs <= view.revokedMs)
    .filter((one) => created(one).length > 0);
  const accepted = batches.filter(isGood);
  const endMs = (accepted[0]?.atMs ?? 0) + queueSeconds * view.timing.tvSecondMs;
  const last = accepted.findLast(({ atMs }) => atMs <= endMs);
  const sent = batches.filter(({ number }) => number <= (last?.number ?? 0));
  const events = new Map(sent.flatMap((one) => created(one).map((event) => [event.digest, event])));
  return [...events.values()];
}

/**
 * Returns the time of the TV's clock at `sinceMs`, in epoch seconds, after a power cut. Uses only
 * events created since, because a TV may set its clock when it starts. Elsewhere,
 * `TvPlayback.clockAt` has the TV's clock. Events are created before
 * their batch is sent, so each event gives a lower limit. The highest limit is the best estimate.
 */
function clockAfterPower(view: ExamView, sinceMs: number): number {
  const created = createdAfterPower(view);
  const limits = view
    .of('postEvents')
    .filter(({ atMs }) => atMs >= sinceMs)
    .flatMap((one) =>
      created(one).map(({ seconds = 0 }) => seconds - view.tvSeconds(sinceMs, one.atMs)),
    );
  return largest(limits);
}

export const powerChecks: readonly TvCheck[] = [
  {
    ...inPower,
    id: 'tv.power.keeps-key',
    section: '3.1',
    title: 'The TV keeps its key across a power cut',
    expected: 'requests with the same key, and no registration',
    advice: 'Write the key to permanent storage before you use it.',
    judge(view) {
      const backMs = view.markedMs('power is back');
      return backMs === undefined ? noPower(view) : keyAfter(view, backMs, view.revokedMs);
    },
  },
  {
    ...inPower,
    id: 'tv.power.same-batch',
    section: '2.5',
    title: 'An unanswered batch survives a power cut',
    expected: 'the same bytes under the same Idempotency-Key',
    advice: 'Store a batch with its Idempotency-Key before the first attempt.',
    judge(view) {
      const backMs = view.markedMs('power is back');
      const lost = view.faulted('power.lost').at(-1);
      if (backMs === undefined || !lost) return noPower(view);
      const next = view.of('postEvents').find(({ atMs }) => atMs >= backMs);
      if (!next && registeredAgain(view, backMs)) return skip('The TV had lost its key.');
      if (!next) return fail(`${shown(lost)}; no batch of events followed.`);
      const same = view
        .of('postEvents')
        .find(
          (one) =>
            one.atMs >= backMs &&
            one.bodyDigest === lost.bodyDigest &&
            one.idempotencyKey === lost.idempotencyKey,
        );
      return same
        ? pass(`${shown(lost)}; ${shown(same)}, unchanged.`)
        : fail(`${shown(lost)}; ${shown(next)}, a different batch.`);
    },
  },
  {
    ...inPower,
    id: 'tv.power.plays-without-network',
    title: 'The TV starts and plays without a network',
    expected: 'impressions of the time before the network was back',
    advice: 'Store the playlist and its media, and play them before the first request succeeds.',
    judge(view) {
      const first = view.faulted('power.offline')[0];
      const goneMs = view.markedMs('power goes');
      const backMs = view.markedMs('power found its network');
      if (!first || goneMs === undefined || backMs === undefined) return noPower(view);
      if (!view.hadPlaylist(goneMs)) return skip('The TV had no playlist.');
      const events = eventsAfterPower(view, first);
      const back = clockAfterPower(view, backMs);
      const isOfOffline = ({ seconds = 0 }: SentEvent) => seconds < back - 5;
      if (!events.some(isOfOffline)) return skip('The TV delivered no events of that time.');
      const offlineSeconds = view.tvSeconds(first.atMs, backMs);
      // The queue may also have events from the time before the power cut.
      const impressions = events.filter(
        ({ type, seconds = 0 }) => type === 'impression' && seconds > back - offlineSeconds,
      );
      const played = impressions.reduce((sum, { duration = itemSeconds }) => sum + duration, 0);
      // With the network, the TV gets a playlist whose only item does not end here.
      const seen = `${played.toFixed(0)} s played in ${offlineSeconds.toFixed(0)} s without network.`;
      return played >= 0.4 * offlineSeconds ? pass(seen) : fail(seen);
    },
  },
];
