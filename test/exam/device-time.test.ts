import { expect, it } from 'vitest';
import { deviceTimeChecks } from '../../src/exam/checks/device-time-header.ts';
import { ExamView } from '../../src/exam/checks/exam-view.ts';
import type { TvExchange } from '../../src/exam/wire/exchange.ts';

/** A batch that was sent at a time, with the `X-Device-Time` of another time. */
const sent = (atMs: number, deviceMs: number) =>
  ({
    number: atMs + 1,
    operation: 'postEvents',
    method: 'POST',
    path: '/devices/tv/events',
    atMs,
    endMs: atMs,
    end: 'answered',
    deviceTime: String(1_790_000_000_000 + deviceMs),
    bodyDigest: 'same',
    events: [],
  }) as unknown as TvExchange;

function judge(...exchanges: TvExchange[]): string | undefined {
  const timing = { pace: 1, minuteMs: 60_000, tvSecondMs: 1000 } as ExamView['timing'];
  const view = new ExamView({ exchanges, marks: [], timing, isQuick: true });
  return deviceTimeChecks.find(({ id }) => id === 'tv.device-time.anew')?.judge(view).result;
}

it('a TV that repeats a batch with an older X-Device-Time fails the exam', () => {
  expect(judge(sent(0, 0), sent(2000, 2000))).toBe('pass');
  expect(judge(sent(0, 0), sent(2000, 0))).toBe('fail');
});

it('a repeat by the HTTP client of the TV is not judged', () => {
  expect(judge(sent(0, 0), sent(20, 0), sent(2000, 2000))).toBe('pass');
  expect(judge(sent(0, 0), sent(20, 0))).toBe('skip');
});
