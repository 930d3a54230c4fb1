// 50 TVs over real HTTP for 3 days of nights, reboots, outages and restarts.
import { expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../src/domain/clock.ts';
import { judgeNotices } from '../../service/notices/judge-notices.ts';
import { planTrouble } from '../../service/notices/watched-town.ts';
import { makeHttpTown } from './http-town.ts';

const days = Number(process.env.NOTICE_DAYS ?? 3);
const seed = Number(process.env.NOTICE_SEED ?? 1);

it(`tells all that happens to 50 TVs over HTTP in ${days} days, and nothing else`, async () => {
  const town = await makeHttpTown({ venues: 5, tvsPerVenue: 10, withHours: 2 });
  planTrouble(town, days, seed);
  // All TVs are back by then.
  await town.liveUntil(town.startMs + days * dayMs + 9 * hourMs);
  const notices = await town.notices();
  const { wrong, outages } = judgeNotices(town, notices, town.clock.now());
  const count = (type: string) => notices.filter((one) => one.type === type).length;
  console.log(
    `${town.requests()} requests. ${outages} outages had to be told. Told: ${count('screen.dark')} screen.dark, ${count('screen.recovered')} screen.recovered, ${count('venue.dark')} venue.dark, ${count('venue.recovered')} venue.recovered. Wrong: ${wrong.length}.`,
  );
  await town.close();
  expect(wrong).toEqual([]);
  expect(outages).toBeGreaterThan(10);
});
