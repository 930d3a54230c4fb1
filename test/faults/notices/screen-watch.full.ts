// 100 TVs for 30 days of nights, reboots, outages and restarts: what the service tells of them.
import { expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/domain/clock.ts';
import { judgeNotices } from '../../service/notices/judge-notices.ts';
import { makeTown, planTrouble } from '../../service/notices/watched-town.ts';

const days = Number(process.env.NOTICE_DAYS ?? 30);
const venues = Number(process.env.NOTICE_VENUES ?? 10);
const seed = Number(process.env.NOTICE_SEED ?? 1);

it(`tells all that happens to ${venues * 10} TVs in ${days} days, and nothing else`, async () => {
  const town = await makeTown({ venues, tvsPerVenue: 10, withHours: venues / 2 });
  planTrouble(town, days, seed);
  // All TVs are back by then.
  await town.liveUntil(town.startMs + days * dayMs + 9 * hourMs);
  const notices = await town.notices();
  const { wrong, outages } = judgeNotices(town, notices, town.clock.now());
  const count = (type: string) => notices.filter((one) => one.type === type).length;
  console.log(
    `${outages} outages had to be told. Told: ${count('screen.dark')} screen.dark, ${count('screen.recovered')} screen.recovered, ${count('venue.dark')} venue.dark, ${count('venue.recovered')} venue.recovered. Wrong: ${wrong.length}.`,
  );
  await town.close();
  expect(wrong).toEqual([]);
  expect(outages).toBeGreaterThan(venues);
}, 0);
