import { expect, it } from 'vitest';
import { shownText } from '../../../src/cli/output/view.ts';

const nowMs = Date.parse('2026-11-20T12:05:00.000Z');

it.each([
  ['2026-11-20T12:00:00.000Z', '5 min ago'],
  ['2026-99-99T99:99:99.000Z', '2026-99-99T99:99:99.000Z'],
  [true, 'yes'],
  [null, '-'],
  [{ floor: '2', wing: 'east' }, 'floor=2, wing=east'],
])('shows %j as %s', (value, text) => {
  expect(shownText(value, nowMs)).toBe(text);
});
