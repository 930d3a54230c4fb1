import { largest } from '../../domain/numbers/extremes.ts';
import { itemSeconds } from '../exam-service.ts';
import { isGood } from '../parts/part.ts';
import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { fail, pass, skip, type TvCheck } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const inNetwork = { level: 'must', section: '2.6', part: 'network' } as const;
const inPower = { level: 'must', section: '2.6', part: 'power' } as const;
const noPower = skip('The power was not cut. Give --power-cmd, or run the exam at a terminal.');
const noOutage = skip('The network was not away.');
const silent = skip('The TV sent no request after the outage.');
const percent = (share: number) => `${Math.round(100 * share)} % of the time`;

/** Duration that does not count at each end of an outage, in TV seconds. */
const edgeSeconds = 2 * itemSeconds;

interface Span {
  fromMs: number;
  toMs: number;
}

function awayOf(view: ExamView): Span | undefined {
  const fromMs = view.markedMs('network goes');
  const toMs = view.markedMs('network is back');
  return fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs };
}

/** Whether the service accepted a batch, even if the answer was lost. */
const isAccepted = ({ answer }: TvExchange) => answer?.status === 202;

/** Number of events that the TV created while the network was away, and delivered later. */
function delivered(view: ExamView, { fromMs, toMs }: Span): number {
  const from = view.playback.clockAt(fromMs);
  const to = view.playback.clockAt(toMs);
  if (from === undefined || to === undefined) return 0;
  const sent = view.of('postEvents').filter((one) => one.atMs >= toMs && isAccepted(one));
  const events = sent.flatMap((one) => one.events);
  return events.filter(({ seconds = 0 }) => seconds > from + 2 && seconds < to - 2).length;
}

/** Number of events in cut batches that the TV did not send again. */
function lostEvents(view: ExamView): number {
  const cut = view.faulted('network.away').filter(({ operation }) => operation === 'postEvents');
  const all = view.of('postEvents').filter((one) => one.end === 'answered' || isAccepted(one));
  const sent = new Set(all.flatMap(digestsOf));
  return new Set(cut.flatMap(digestsOf).filter((digest) => !sent.has(digest))).size;
}

/** Whether the TV had a playlist at a moment. Only its last success or 404 counts. */
function hasPlaylist(view: ExamView, atMs: number): boolean {
  const answers = view
    .of('getPlaylist')
    .filter((one) => one.endMs <= atMs && one.end === 'answered');
  const last = answers.findLast((one) => isGood(one) || one.answer?.status === 404);
  return last !== undefined && isGood(last);
}

const revokedMs = (view: ExamView) => view.markedMs('revoked') ?? Number.POSITIVE_INFINITY;

/** Whether the TV registered after an outage, before it was revoked. */
const registeredAgain = (view: ExamView, backMs: number): boolean =>
  view.of('registerDevice').some(({ atMs }) => atMs >= backMs && atMs <= revokedMs(view));

/** Judges whether the TV keeps using its key after an outage. */
function keyAfter(view: ExamView, backMs: number, endMs: number) {
  const later = view.exchanges.filter(({ atMs }) => atMs >= backMs && atMs <= endMs);
  const again = later.find(({ operation }) => operation === 'registerDevice');
  if (again) return fail(`${shown(again)}.`);
  const first = later.find(isGood);
  return first ? pass(`${shown(first)}.`) : fail('No request with the key followed.');
}

export const networkChecks: readonly TvCheck[] = [
  {
    ...inNetwork,
    id: 'tv.network.comes-back',
    title: 'The TV finds the service again after an outage',
    expected: 'a request within 1.5 sync intervals after the network is back',
    advice: 'Never give up: the longest delay between two attempts is the sync interval.',
    judge(view) {
      const away = awayOf(view);
      if (!away) return noOutage;
      const first = view.exchanges.find(({ atMs }) => atMs >= away.toMs);
      if (!first) return fail('No request came after the outage.');
      const waitedMs = first.atMs - away.toMs;
      const seen = `${shown(first)}, ${view.span(waitedMs)} after the outage.`;
      return view.isSoonEnough(waitedMs, view.syncMinutesAt(away.fromMs)) ? pass(seen) : fail(seen);
    },
  },
  {
    ...inNetwork,
    id: 'tv.network.keeps-key',
    title: 'The TV keeps its key in an outage',
    expected: 'requests with the same key, and no registration',
    advice: 'Never delete the key because the service does not answer.',
    judge(view) {
      const away = awayOf(view);
      if (!away) return noOutage;
      const endMs = view.markedMs('power goes') ?? revokedMs(view);
      if (!view.exchanges.some(({ atMs }) => atMs >= away.toMs && atMs <= endMs)) return silent;
      return keyAfter(view, away.fromMs, endMs);
    },
  },
  {
    ...inNetwork,
    id: 'tv.network.keeps-events',
    section: '2.5',
    title: 'The TV keeps its events in an outage',
    expected: 'events of the time without network, delivered later',
    advice:
      'Keep events in the queue until they get a 202. Drop the oldest events only when the queue is full.',
    judge(view) {
      const away = awayOf(view);
      if (!away) return noOutage;
      const all = view.of('postEvents');
      if (all.length === 0) return skip('The TV sent no events.');
      const sent = all.filter((one) => one.atMs >= away.toMs && isAccepted(one));
      if (!view.exchanges.some(({ atMs }) => atMs >= away.toMs)) return silent;
      if (sent.length === 0) return fail('No batch of events came after the outage.');
      const count = delivered(view, away);
      const lost = lostEvents(view);
      if (lost > 0) return fail(`${lost} events of batches that were cut did not come again.`);
      const seen = `${count} events of the ${view.span(away.toMs - away.fromMs)}.`;
      return count > 0 ? pass(seen) : fail(seen);
    },
  },
  {
    ...inNetwork,
    id: 'tv.network.plays-on',
    title: 'The TV plays on in an outage',
    expected: 'impressions that cover at least half of the time',
    advice: 'Play the stored playlist and media while no answer comes.',
    judge(view) {
      const away = awayOf(view);
      if (!away) return noOutage;
      if (!hasPlaylist(view, away.fromMs)) return skip('The TV had no playlist.');
      if (delivered(view, away) === 0) return skip('The TV delivered no events of that time.');
      const edgeMs = edgeSeconds * view.timing.tvSecondMs;
      // Before its first request failed, the TV did not know of the outage.
      const fromMs = view.faulted('network.away')[0]?.atMs ?? away.fromMs;
      const share = view.playback.share(fromMs + edgeMs, away.toMs - edgeMs);
      if (share === undefined) return skip('The time was too short to measure.');
      const seen = `The TV played ${percent(share)}.`;
      return share >= 0.5 ? pass(seen) : fail(seen);
    },
  },
];

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
      return backMs === undefined ? noPower : keyAfter(view, backMs, revokedMs(view));
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
      if (backMs === undefined || !lost) return noPower;
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
      if (!first || goneMs === undefined || backMs === undefined) return noPower;
      if (!hasPlaylist(view, goneMs)) return skip('The TV had no playlist.');
      const { events, lastMs } = eventsAfterPower(view, first);
      const onlineSeconds = Math.max(0, view.tvSeconds(backMs, lastMs));
      const back = tvClockAt(view, backMs);
      const isOfOffline = ({ seconds = 0 }: SentEvent) => seconds < back - 5;
      if (!events.some(isOfOffline)) return skip('The TV delivered no events of that time.');
      const offlineSeconds = view.tvSeconds(first.atMs, backMs);
      // The queue may also have events from the time before the power cut.
      const impressions = events.filter(
        ({ type, seconds = 0 }) => type === 'impression' && seconds > back - offlineSeconds,
      );
      const played = impressions.reduce((sum, { duration = itemSeconds }) => sum + duration, 0);
      const seen = `${played.toFixed(0)} s played, ${offlineSeconds.toFixed(0)} s of them without network at most.`;
      return played >= 0.4 * offlineSeconds + onlineSeconds ? pass(seen) : fail(seen);
    },
  },
];

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
 * `queueSeconds` of the first one. `lastMs` is the time of that last batch.
 */
function eventsAfterPower(view: ExamView, { atMs: startMs }: TvExchange) {
  const created = createdAfterPower(view);
  const batches = view
    .of('postEvents')
    .filter(({ atMs }) => atMs >= startMs && atMs <= revokedMs(view))
    .filter((one) => created(one).length > 0);
  const accepted = batches.filter(isGood);
  const endMs = (accepted[0]?.atMs ?? 0) + queueSeconds * view.timing.tvSecondMs;
  const last = accepted.findLast(({ atMs }) => atMs <= endMs);
  const sent = batches.filter(({ number }) => number <= (last?.number ?? 0));
  const events = new Map(sent.flatMap((one) => created(one).map((event) => [event.digest, event])));
  return { events: [...events.values()], lastMs: last?.atMs ?? 0 };
}

/**
 * Returns the time of the TV's clock at `sinceMs`, in epoch seconds. Events are created before
 * their batch is sent, so each event gives a lower limit. The highest limit is the best estimate.
 */
function tvClockAt(view: ExamView, sinceMs: number): number {
  const created = createdAfterPower(view);
  const limits = view
    .of('postEvents')
    .filter(({ atMs }) => atMs >= sinceMs)
    .flatMap((one) =>
      created(one).map(({ seconds = 0 }) => seconds - view.tvSeconds(sinceMs, one.atMs)),
    );
  return largest(limits);
}

const digestsOf = ({ events }: TvExchange) => events.map(({ digest }) => digest);
