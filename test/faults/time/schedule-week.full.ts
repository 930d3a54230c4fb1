import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs, systemClock } from '../../../src/domain/clock.ts';
import { makeVirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';
import { item } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';
import { virtualTv } from '../../support/tv/virtual-tv.ts';

/** Friday, midnight in Berlin. The clocks do not change soon. */
const startMs = Date.parse('2026-11-27T00:00:00+01:00');
const runMs = 3.4 * dayMs;

const named = (name: string) => [item({ name, duration: 900 })];
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const entries = [
  { name: 'Closed', days: ['sun'], from: '04:00', to: '04:00', items: named('Closed') },
  { name: 'Breakfast', days: weekdays, from: '06:00', to: '11:00', items: named('Breakfast') },
  { name: 'Lunch', days: weekdays, from: '11:00', to: '15:00', items: named('Lunch') },
  { name: 'Happy hour', days: ['fri', 'sat'], from: '22:00', to: '02:00', items: named('Happy') },
];

/** What the week says for an hour since its start: Friday, Saturday, Sunday and Monday. */
function expected(hour: number): string {
  const day = Math.floor(hour / 24);
  const time = hour % 24;
  if ((day === 2 && time >= 4) || (day === 3 && time < 4)) return 'Closed';
  if (day < 2 && time >= 22) return 'Happy';
  if ((day === 1 || day === 2) && time < 2) return 'Happy';
  if (day !== 2 && time >= 6 && time < 11) return 'Breakfast';
  return day !== 2 && time >= 11 && time < 15 ? 'Lunch' : 'base';
}

it('plays the days of a shop, also while its network is cut over two switches', async () => {
  const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
  const service = await startService({ clock });
  const venue = await service.venue({ timezone: 'Europe/Berlin' });
  const { id } = await service.screen({ venueId: venue.id });
  await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: named('base') });
  await service.manage('PUT', `/v1/venues/${venue.id}/schedule`, { entries });
  const { code } = await service.code(id);
  const isCut = () => {
    const hour = (clock.now() - startMs) / hourMs;
    return hour > 24 + 10 && hour < 24 + 17;
  };
  let refused = 0;
  const shown: { atMs: number; name: unknown }[] = [];
  const tv = virtualTv({
    url: service.url,
    clock,
    startMs,
    nextCode: async () => code,
    wire: (send) => (url, parts) => {
      if (!isCut()) return send(url, parts);
      refused++;
      return Promise.reject(new Error('no network'));
    },
    observer: { onShow: (one) => shown.push({ atMs: clock.now() - startMs, name: one?.name }) },
  });
  await tv.player.run(undefined, runMs);
  expect(refused).toBeGreaterThan(10);
  const wrong: string[] = [];
  for (let atMs = 10 * minuteMs; atMs < runMs; atMs += minuteMs) {
    const name = shown.findLast((one) => one.atMs <= atMs + 2 * secondMs)?.name;
    const wanted = expected(atMs / hourMs);
    if (name !== wanted) wrong.push(`${atMs / hourMs} h: ${name} instead of ${wanted}`);
  }
  expect(wrong).toEqual([]);
}, 120_000);
