import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { type ConditionInput, conditionOf } from '../../../src/domain/conditions/condition.ts';
import type { LastActivity } from '../../../src/domain/records/activity.ts';

const now = 1_800_000_000_000;
const ago = (minutes: number) => now - minutes * minuteMs;
const error = (since: number, at: number) => ({
  creativeId: 'c1',
  reason: 'http_404',
  since: ago(since),
  at: ago(at),
});

/** A screen whose TV calls, has the newest version, and played an item a minute ago. */
function judge(
  activity: LastActivity = {},
  changes: Partial<ConditionInput> = {},
  playlist: Partial<NonNullable<ConditionInput['playlist']>> = {},
) {
  return conditionOf({
    screenSince: ago(10_000),
    device: {
      createdAt: ago(5000),
      activity: {
        lastSeenAt: ago(0.5),
        seenSince: ago(3000),
        lastPlaylistAt: ago(1),
        lastPlaylistVersion: 3,
        lastPlayAt: ago(1),
        playsSince: ago(100),
        longestPlayGapMs: 2 * minuteMs,
        ...activity,
      },
    },
    config: { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 5 },
    playlist: {
      version: 3,
      status: 'active',
      publishedAt: ago(2000),
      longestItemMs: 30 * secondMs,
      ...playlist,
    },
    nowMs: now,
    ...changes,
  });
}

describe('the condition of a screen is', () => {
  it.each([
    ['playing', {}, ago(100)],
    ['unpaired', { device: undefined }, ago(10_000)],
    ['never_seen', { device: { createdAt: ago(6), activity: { lastSeenAt: ago(6) + 3 } } }, ago(6)],
    ['dark', { darkAfterMs: 20 * secondMs }, ago(0.5)],
    ['idle', { playlist: undefined }, null],
  ])('%s', (condition, changes, since) => {
    expect(judge({}, changes)).toMatchObject({ condition, since });
  });

  it.each([
    ['dark, after the window of its config', { lastSeenAt: ago(10.1) }, 'dark', ago(10.1)],
    ['playing within that window', { lastSeenAt: ago(9.9) }, 'playing', ago(100)],
    ['stopped after app_stopped', { stoppedAt: ago(3) }, 'stopped', ago(3)],
    ['hidden while its page is', { hidden: { since: ago(3), until: null } }, 'hidden', ago(3)],
    [
      'unconfirmed, not silent, when its page has just been shown after a night',
      { lastPlayAt: ago(600), hidden: { since: ago(600), until: ago(0.2) } },
      'unconfirmed',
      ago(0.2),
    ],
    [
      'failing if an item fails and nothing was played for an item and a heartbeat',
      { lastPlayAt: ago(6), playErrors: [error(6, 5)] },
      'failing',
      ago(6),
    ],
    [
      'failing if an item failed in the second in which the last play ended',
      { lastPlayAt: ago(6), playErrors: [error(6, 6)] },
      'failing',
      ago(6),
    ],
    [
      'partly failing if its TV has not had to report yet whether it plays others',
      { lastPlayAt: ago(6), playErrors: [error(6, 6)], longestPlayGapMs: 30 * minuteMs },
      'partly_failing',
      ago(6),
    ],
    [
      'failing if nothing was ever played',
      { lastPlayAt: undefined, playErrors: [error(6, 6)] },
      'failing',
      ago(6),
    ],
    [
      'unconfirmed as long as another item may still be on',
      { lastPlayAt: undefined, playErrors: [error(5, 5)] },
      'unconfirmed',
      ago(2000),
    ],
    [
      'partly failing if it plays other items',
      { playErrors: [error(29, 29)] },
      'partly_failing',
      ago(29),
    ],
    ['playing half an hour after an error', { playErrors: [error(31, 31)] }, 'playing', ago(100)],
    ['silent if it calls and no longer reports plays', { lastPlayAt: ago(17) }, 'silent', ago(17)],
    [
      'unconfirmed for the first minutes after a short pause',
      { lastPlayAt: ago(15) },
      'unconfirmed',
      ago(15),
    ],
    [
      'unconfirmed if it has reported plays only once, as a TV does that seldom reports',
      { lastPlayAt: ago(60), longestPlayGapMs: undefined },
      'unconfirmed',
      ago(60),
    ],
    [
      'silent if the second report does not come for long',
      { lastPlayAt: ago(100), longestPlayGapMs: undefined },
      'silent',
      ago(100),
    ],
    [
      'playing if it reports plays every half an hour',
      { lastPlayAt: ago(85), longestPlayGapMs: 30 * minuteMs },
      'playing',
      ago(100),
    ],
    [
      'unconfirmed if it calls again after an outage, and has not reported yet',
      { lastPlayAt: ago(300), seenSince: ago(2) },
      'unconfirmed',
      ago(2),
    ],
    [
      'unconfirmed if it never reported a play',
      { lastPlayAt: undefined },
      'unconfirmed',
      ago(2000),
    ],
    ['unconfirmed if its clock is unusable', { isPlayTimeGuessed: true }, 'unconfirmed', ago(1)],
    ['outdated with an older version', { lastPlaylistVersion: 2 }, 'outdated', ago(2000)],
  ])('%s', (_, activity, condition, since) => {
    expect(judge(activity)).toMatchObject({ condition, since });
  });

  it.each([
    ['idle', { status: 'withdrawn' }],
    ['idle', { status: 'expired' }],
  ] as const)('%s with a playlist that is %j', (condition, playlist) => {
    expect(judge({}, {}, playlist)).toMatchObject({ condition, since: null });
  });

  it('playing for two sync intervals with the version before', () => {
    const condition = (published: number) =>
      judge({ lastPlaylistVersion: 2 }, {}, { publishedAt: ago(published) }).condition;
    expect([condition(9.9), condition(10.1)]).toEqual(['playing', 'outdated']);
  });

  it('unconfirmed after a publication on an idle screen, until a play is due', () => {
    const condition = (published: number) =>
      judge({ lastPlayAt: ago(500) }, {}, { publishedAt: ago(published) }).condition;
    expect([condition(15), condition(17)]).toEqual(['unconfirmed', 'silent']);
  });

  it('playing again when the playlist no longer has the item that failed', () => {
    const { condition } = judge({ playErrors: [error(20, 20)] }, {}, { publishedAt: ago(10) });
    expect(condition).toBe('playing');
  });
});
