import { expect, it } from 'vitest';
import { ExamView } from '../../src/exam/checks/exam-view.ts';
import { powerChecks } from '../../src/exam/checks/power.ts';
import type { SentEvent, TvExchange } from '../../src/exam/wire/exchange.ts';

/** Time of the power cut by the service, and by the TV after it started again. */
const goneMs = 1_790_000_000_000;
const startSeconds = 1_790_000_000;

const event = (type: string, seconds: number) =>
  ({ type, seconds: startSeconds + seconds, digest: `${type} ${seconds}` }) as SentEvent;

function exchange(seconds: number, more: Partial<TvExchange>): TvExchange {
  const atMs = goneMs + seconds * 1000;
  const answer = { status: 202 } as TvExchange['answer'];
  const shown = { method: 'POST', path: '/' };
  const common = { ...shown, number: 100 + seconds, atMs, endMs: atMs, end: 'answered', answer };
  return { ...common, events: [], ...more } as unknown as TvExchange;
}

/**
 * Judges a TV whose batch was lost at a power cut, that had no network until 26 s later, and was
 * revoked at 40 s.
 */
function judgeRow(id: string, later: readonly TvExchange[]): string | undefined {
  const exchanges = [
    exchange(-60, { operation: 'getPlaylist' }),
    exchange(-1, { operation: 'postEvents', end: 'lost', fault: 'power.lost' } as object),
    exchange(1, { operation: 'getPlaylist', end: 'cut', fault: 'power.offline' }),
    ...later,
  ];
  const marks = [
    { name: 'power goes', atMs: goneMs },
    { name: 'power is back', atMs: goneMs + 500 },
    { name: 'power found its network', atMs: goneMs + 26_000 },
    { name: 'revoked', atMs: goneMs + 40_000 },
  ];
  const timing = { pace: 1, minuteMs: 60_000, tvSecondMs: 1000 } as ExamView['timing'];
  const view = new ExamView({ exchanges, marks, timing, isQuick: true });
  return powerChecks.find((check) => check.id === id)?.judge(view).result;
}

const sent = (seconds: number, events: readonly SentEvent[] = []) =>
  exchange(seconds, { operation: 'postEvents', events: [...events] });

const judge = (events: readonly SentEvent[], seconds = 30) =>
  judgeRow('tv.power.plays-without-network', [sent(seconds, events)]);

const played = [6, 11, 16, 21, 26].map((seconds) => event('impression', seconds));
const playedOnce = [...played.slice(0, 1), event('heartbeat', 29)];

it('judges the playing of a TV that set its clock back at its start', () => {
  const earlier = [event('impression', 3600), event('app_started', 1)];
  expect(judge([...earlier, ...played])).toBe('pass');
  expect(judge([...earlier, ...playedOnce])).toBe('fail');
});

it('judges the playing of a TV that sends no start', () => {
  expect(judge(played)).toBe('pass');
  expect(judge(playedOnce)).toBe('fail');
});

it('does not judge the playing of a TV that sends its events only after it was revoked', () => {
  expect(judge(played, 45)).toBe('skip');
});

it('does not judge the unanswered batch of a TV that lost its key and sent none', () => {
  const registered = exchange(30, { operation: 'registerDevice' });
  expect(judgeRow('tv.power.same-batch', [registered])).toBe('skip');
  expect(judgeRow('tv.power.same-batch', [])).toBe('fail');
  const other = exchange(31, { operation: 'postEvents', bodyDigest: 'other' });
  expect(judgeRow('tv.power.same-batch', [registered, other])).toBe('fail');
});
