import { itemSeconds } from '../parts/exam-service.ts';
import type { TvExchange } from '../wire/exchange.ts';
import { fail, pass, skip, type TvCheck } from './check.ts';
import { digestsOf, type ExamView, shown } from './exam-view.ts';

const inNetwork = { level: 'must', section: '2.6', part: 'network' } as const;
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

/** Judges whether the TV keeps using its key after an outage. */
export function keyAfter(view: ExamView, backMs: number, endMs: number) {
  const later = view.exchanges.filter(({ atMs }) => atMs >= backMs && atMs <= endMs);
  const again = later.find(({ operation }) => operation === 'registerDevice');
  if (again) return fail(`${shown(again)}.`);
  // An answer that was lost counts, because the service accepted the key.
  const first = later.find(({ answer }) => answer !== undefined && answer.status < 400);
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
      const first = view.exchanges.find(({ atMs, key }) => atMs >= away.toMs && key !== undefined);
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
      const endMs = view.markedMs('power goes') ?? view.revokedMs;
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
      if (count === 0 && !view.hadPlaylist(away.fromMs))
        return skip('The TV had no playlist, so it may have had no events.');
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
      if (!view.hadPlaylist(away.fromMs)) return skip('The TV had no playlist.');
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
