import { expect, it } from 'vitest';
import { ExamView } from '../../src/exam/checks/exam-view.ts';
import { powerChecks } from '../../src/exam/checks/outages.ts';
import type { Exchange, SentEvent } from '../../src/exam/wire/exchange.ts';

/** Time of the power cut by the service, and by the TV after it started again. */
const goneMs = 1_790_000_000_000;
const startSeconds = 1_790_000_000;

const event = (type: string, seconds: number) =>
  ({ type, seconds: startSeconds + seconds, digest: `${type} ${seconds}` }) as SentEvent;

function exchange(seconds: number, more: Partial<Exchange>): Exchange {
  const atMs = goneMs + seconds * 1000;
  const answer = { status: 202 } as Exchange['answer'];
  const common = { number: 100 + seconds, atMs, endMs: atMs, end: 'answered', answer, events: [] };
  return { ...common, ...more } as unknown as Exchange;
}

/** The TV had no network until 26 s after the power cut, and sent this batch at 30 s. */
function judge(events: readonly SentEvent[]): string | undefined {
  const exchanges = [
    exchange(-60, { operation: 'getPlaylist' }),
    exchange(1, { operation: 'getPlaylist', end: 'cut', fault: 'power.offline' }),
    exchange(30, { operation: 'postEvents', events }),
  ];
  const marks = [
    { name: 'power goes', atMs: goneMs },
    { name: 'power found its network', atMs: goneMs + 26_000 },
  ];
  const timing = { pace: 1, minuteMs: 60_000, tvSecondMs: 1000 } as ExamView['timing'];
  const view = new ExamView({ exchanges, marks, timing, isQuick: true });
  const check = powerChecks.find(({ id }) => id === 'tv.power.plays-without-network');
  return check?.judge(view).result;
}

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
