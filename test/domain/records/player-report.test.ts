import { expect, it } from 'vitest';
import { readPlayerReport } from '../../../src/domain/records/player-report.ts';

const findings = {
  engine: 'Chromium 150',
  width: 3840,
  height: 2160,
  pixelRatio: 1.5,
  plays: ['h264', 'vp9'],
  lacks: ['hevc'],
  isolatesPages: true,
  turnsPictures: true,
  turnsVideos: false,
  sound: false,
  keepsStorage: true,
  holdSeconds: 120,
};

it('a report has what the player found out, and its times in milliseconds', () => {
  const event = { type: 'player_report', seq: 7, ...findings, checkedAt: 1_760_000_000 };
  expect(readPlayerReport({ ...event, timestamp: 1_770_000_000 })).toEqual({
    ...findings,
    checkedAt: 1_760_000_000_000,
    at: 1_770_000_000_000,
  });
});

it.each([
  ['engine', 'x'.repeat(81)],
  ['engine', ''],
  ['width', '3840'],
  ['height', 65_536],
  ['pixelRatio', Number.NaN],
  ['plays', 'h264'],
  ['plays', Array.from({ length: 17 }, () => 'h264')],
  ['lacks', ['x'.repeat(17)]],
  ['isolatesPages', 'yes'],
  ['holdSeconds', -1],
  ['checkedAt', 'today'],
  ['checkedAt', Date.UTC(10_000, 0)],
  ['checkedAt', Number.MAX_SAFE_INTEGER],
  ['unknown', 'x'.repeat(8000)],
])('a report leaves out %s: %j', (name, value) => {
  const report = readPlayerReport({ timestamp: 1, ...findings, [name]: value } as never);
  expect(report).not.toHaveProperty(name);
  expect(report.at).toBe(1000);
});
