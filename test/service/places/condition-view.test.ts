import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/domain/conditions/condition.ts';
import type { LastActivity } from '../../../src/domain/records/activity.ts';
import { conditionView, itemFacts } from '../../../src/service/status/condition-view.ts';

const now = 1_800_000_000_000;
const item = (digit: number, creativeUrl: string, more = {}) => ({
  creativeId: `c${digit}`,
  creativeUrl,
  creativeType: 'image',
  duration: digit,
  ...more,
});
const facts = itemFacts(
  JSON.stringify([
    item(1, 'https://cdn.example.com/spring%20sale.png'),
    item(2, `/media/${'a'.repeat(64)}.png`, { name: 'welcome.png' }),
    item(3, 'https://cdn.example.com/%E0%A4%A.png'),
    item(4, 'https://menu.example.com/'),
  ]),
);
const error = (creativeId: string | null, reason = 'http_404') => ({
  creativeId,
  reason,
  since: now,
  at: now,
});

function view(
  condition: Condition,
  errors: ReturnType<typeof error>[] = [],
  activity: LastActivity = {},
) {
  return conditionView({
    judgement: { condition, since: now, errors },
    activity,
    playlist: { version: 3, status: 'active' },
    facts,
  });
}

it('the facts of a playlist have the longest duration, and the name and host of each item', () => {
  expect(facts.longestItemMs).toBe(4000);
  expect([...facts.byCreative.values()]).toMatchObject([
    { name: 'spring sale.png', host: 'cdn.example.com' },
    { name: 'welcome.png', host: 'this service' },
    { name: '%E0%A4%A.png', host: 'cdn.example.com' },
    { name: 'menu.example.com', host: 'menu.example.com' },
  ]);
});

describe('the reason of a screen that is', () => {
  it.each([
    ['stopped', 'app_stopped', 'The app of the TV was stopped.'],
    ['hidden', 'hidden', 'The page of the TV is hidden, such as by a display that is off.'],
    ['silent', 'no_plays', 'The TV calls, but no longer reports that it plays.'],
    ['outdated', 'old_version', 'The TV plays version 2 instead of 3.'],
    ['unconfirmed', 'not_yet', 'The TV has not reported a play since then.'],
  ] as const)('%s', (condition, code, text) => {
    const activity = { lastPlayAt: now, lastPlaylistVersion: 2 };
    expect(view(condition, [], activity).reason).toEqual({ code, text });
  });

  it.each([
    [undefined, 'no_playlist', 'Nothing was published.'],
    ['withdrawn', 'withdrawn', 'The playlist was withdrawn.'],
    ['expired', 'expired', 'The playlist has ended.'],
  ] as const)('idle with the playlist %s', (status, code, text) => {
    const { reason } = conditionView({
      judgement: { condition: 'idle', since: null, errors: [] },
      activity: {},
      playlist: status && { version: 1, status },
      facts: undefined,
    });
    expect(reason).toEqual({ code, text });
  });

  it.each([
    [[error('c2', 'codec')], '"welcome.png" from this service fails: the TV cannot decode it.'],
    [
      [error('c1'), error('c2')],
      '"spring sale.png" from cdn.example.com fails: HTTP 404. 1 other item fails, too.',
    ],
    [
      [error('gone', 'out of paper'), error('c1'), error('c2')],
      '"gone" fails: out of paper. 2 other items fail, too.',
    ],
    [[error(null)], 'An item fails: HTTP 404.'],
  ])('failing, with the newest of %j', (errors, text) => {
    expect(view('failing', errors).reason?.text).toBe(text);
    expect(view('failing', errors).playing).toBeNull();
  });
});

it('a TV whose clock is fast has a positive offset', () => {
  const { clock } = view('playing', [], { lastPlayAt: now, clockOffsetMs: -180_000 });
  expect(clock).toEqual({ offsetSeconds: 180 });
});
