import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/domain/clock.ts';
import {
  batchPlayback,
  type PlaybackActivity,
  playbackAfter,
} from '../../../src/domain/conditions/playback.ts';

const now = 1_800_000_000_000;
const id = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const seconds = (timeMs: number) => timeMs / 1000;
const play = (at: number, creative = 1) => ({
  type: 'play',
  timestamp: seconds(at),
  creativeId: id(creative),
});
const failed = (at: number, creative: number | null = 1, reason: unknown = 'http_404') => ({
  type: 'playback_error',
  timestamp: seconds(at),
  ...(creative !== null && { creativeId: id(creative) }),
  reason,
});

function afterBatch(
  events: Parameters<typeof batchPlayback>[0],
  known: PlaybackActivity = {},
  deviceTime: number | null = now,
): PlaybackActivity {
  return playbackAfter(batchPlayback(events), known, {
    receivedAt: now,
    deviceTime: deviceTime ?? undefined,
  });
}

describe('missing sound', () => {
  const event = (type: string, at = now - 5000) => ({ type, timestamp: seconds(at) });
  const since = (types: string[], known?: PlaybackActivity) =>
    afterBatch(
      types.map((type) => event(type)),
      known,
    ).mutedSince;

  it('lasts from muted until unmuted or app_started', () => {
    expect(since(['muted'])).toBe(now - 5000);
    expect(since(['play'], { mutedSince: 7 })).toBeUndefined();
    expect(since(['muted'], { mutedSince: 7 })).toBe(7);
    expect(since(['unmuted'], { mutedSince: 7 })).toBe(null);
    expect(since(['app_started'], { mutedSince: 7 })).toBe(null);
    expect(since(['muted', 'app_started'])).toBe(null);
  });

  it('is dated by the muted event after a start, in the same batch', () => {
    expect(since(['app_started', 'muted'])).toBe(now - 5000);
    expect(since(['app_started', 'muted'], { mutedSince: 7 })).toBeLessThan(now);
  });
});

describe('a hidden page', () => {
  const status = (hidden?: unknown, at = now - 5000, type = 'heartbeat') => ({
    type,
    timestamp: seconds(at),
    hidden,
  });
  const since = { hidden: { since: 7, until: null } };

  it('lasts from a heartbeat or start with hidden until one without', () => {
    expect(afterBatch([status(true)]).hidden).toEqual({ since: now - 5000, until: null });
    expect(afterBatch([status(true, now, 'app_started')]).hidden?.until).toBeNull();
    expect(afterBatch([status(true)], since)).not.toHaveProperty('hidden');
    for (const event of [status(), status('yes'), status(undefined, now - 5000, 'app_started')])
      expect(afterBatch([event], since).hidden).toEqual({ since: 7, until: now - 5000 });
    expect(afterBatch([status()])).not.toHaveProperty('hidden');
    expect(afterBatch([play(now), status(true, now, 'shown')], since)).not.toHaveProperty('hidden');
  });

  it('is dated by the first of the heartbeats of a batch that say so', () => {
    const batch = [status(false, now - 9000), status(true, now - 8000), status(true)];
    expect(afterBatch(batch).hidden?.since).toBe(now - 8000);
  });

  it('tells nothing of how often its TV reports plays', () => {
    const known = { lastPlayReportAt: now - 9 * hourMs, hidden: { since: now - 8 * hourMs } };
    for (const until of [null, now - minuteMs])
      expect(
        afterBatch([play(now)], { ...known, hidden: { ...known.hidden, until } }),
      ).not.toHaveProperty('longestPlayGapMs');
    const earlier = { since: 1, until: now - 10 * hourMs };
    expect(afterBatch([play(now)], { ...known, hidden: earlier }).longestPlayGapMs).toBe(
      9 * hourMs,
    );
  });
});

describe('plays', () => {
  it('are dated by the clock of the service', () => {
    const wrong = now - 30 * dayMs;
    expect(afterBatch([play(wrong - 5000)], {}, wrong)).toMatchObject({
      lastPlayAt: now - 5000,
      lastPlayId: id(1),
      isPlayTimeGuessed: false,
      clockOffsetMs: 30 * dayMs,
    });
  });

  it('of a clock of 1970 without its time count at their receipt, which is only a guess', () => {
    const { lastPlayAt, isPlayTimeGuessed, clockOffsetMs } = afterBatch([play(60_000)], {}, null);
    expect([lastPlayAt, isPlayTimeGuessed, clockOffsetMs]).toEqual([now, true, null]);
  });

  it('of a backlog are no plays of now', () => {
    const known = { lastPlayAt: now - minuteMs, lastPlayId: id(2) };
    expect(afterBatch([play(now - hourMs)], known)).not.toHaveProperty('lastPlayAt');
  });

  it('in the future count at their receipt', () => {
    expect(afterBatch([play(now + hourMs)]).lastPlayAt).toBe(now);
  });

  it('form a series until a long break', () => {
    const known = { lastPlayAt: now - 20 * minuteMs, playsSince: now - hourMs };
    expect(afterBatch([play(now)], known).playsSince).toBe(now - hourMs);
    expect(afterBatch([play(now)], { ...known, lastPlayAt: now - hourMs }).playsSince).toBe(now);
  });
});

describe('the longest time between two reports', () => {
  const known = { lastPlayReportAt: now - 30 * minuteMs };

  it('is kept for a day', () => {
    expect(afterBatch([play(now)], known).longestPlayGapMs).toBe(30 * minuteMs);
    const longer = { ...known, longestPlayGapMs: hourMs };
    expect(afterBatch([play(now)], { ...longer, playGapAt: now - dayMs })).not.toHaveProperty(
      'longestPlayGapMs',
    );
    expect(
      afterBatch([play(now)], { ...longer, playGapAt: now - dayMs - 1 }).longestPlayGapMs,
    ).toBe(30 * minuteMs);
  });

  it('is unknown after the first report, or the first after a time without power', () => {
    const events = [{ type: 'app_started', timestamp: seconds(now) }, play(now)];
    for (const after of [afterBatch([play(now)], {}), afterBatch(events, known)])
      expect(after).not.toHaveProperty('longestPlayGapMs');
  });
});

describe('errors', () => {
  it('are kept once for each item, with the time of the first', () => {
    const first = afterBatch([failed(now - hourMs)]);
    expect(afterBatch([failed(now, 1, 'codec')], first).playErrors).toEqual([
      { creativeId: id(1), reason: 'codec', since: now - hourMs, at: now },
    ]);
  });

  it('end when the item is played', () => {
    const known = afterBatch([failed(now - hourMs, 1), failed(now - hourMs, 2)]);
    expect(
      afterBatch([play(now, 2)], known).playErrors?.map(({ creativeId }) => creativeId),
    ).toEqual([id(1)]);
  });

  it('after the last play of the item stay', () => {
    expect(afterBatch([play(now - minuteMs), failed(now)]).playErrors).toHaveLength(1);
  });

  it('are at most eight, the newest', () => {
    const events = Array.from({ length: 9 }, (_, at) => failed(now - at * minuteMs, at));
    const kept = afterBatch(events).playErrors ?? [];
    expect([kept.length, kept[0]?.creativeId, kept[7]?.creativeId]).toEqual([8, id(0), id(7)]);
  });

  it.each([[null], [17], ['x'.repeat(121)]])('have a short reason, also for %j', (reason) => {
    const [error] = afterBatch([failed(now, null, reason)]).playErrors ?? [];
    expect(error).toMatchObject({ creativeId: null });
    expect(error?.reason).toMatch(/^(?:unknown|x{120})$/);
  });
});

it('a TV is stopped until its next event', () => {
  const stopped = { type: 'app_stopped', timestamp: seconds(now - 1000) };
  expect(afterBatch([play(now - 2000), stopped]).stoppedAt).toBe(now - 1000);
  expect(
    afterBatch([stopped, { type: 'heartbeat', timestamp: seconds(now) }]).stoppedAt,
  ).toBeNull();
});
