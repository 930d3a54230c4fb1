import { afterEach, describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { effectiveConfig } from '../../../src/domain/records/config.ts';
import { NoticeFigures } from '../../../src/service/notices/notice-figures.ts';
import { makeNoticeLog } from '../../../src/service/notices/notice-log.ts';
import { startNoticeWatch } from '../../../src/service/notices/notice-watch.ts';
import { ScreenWatch } from '../../../src/service/notices/screen-watch.ts';
import type { JudgedScreen } from '../../../src/service/status/judged-screens.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { sampleRow } from '../../../src/testing/store-suite/sample-rows.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { judgeNotices } from './judge-notices.ts';
import { makeTown, planTrouble, stepMs, type Town, type TownPlan, tellMs } from './watched-town.ts';

let town: Town;

/** Makes a town in which all TVs have called for 30 minutes. Times count from then. */
async function liveTown(plan: TownPlan) {
  town = await makeTown(plan);
  const startMs = town.startMs + 30 * minuteMs;
  await town.liveUntil(startMs);
  const at = (minutes: number) => startMs + minutes * minuteMs;
  const span = (from: number, to: number) => ({ startMs: at(from), endMs: at(to) });
  const told = async () =>
    (await town.notices()).map(({ type, at: timeMs }) => [type, (timeMs - startMs) / minuteMs]);
  return { at, span, told };
}
const between = (low: number, high: number) => ({
  asymmetricMatch: (value: number) => value >= low && value <= high,
  toString: () => `${low} to ${high}`,
});

describe('the watch over screens', () => {
  afterEach(() => town.close());

  it('tells once that a TV went dark, within 13 minutes, and once that it is back', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 2 });
    town.tvs[0]!.off.push(span(0, 60));
    await town.liveUntil(at(180));
    expect(await told()).toEqual([
      ['screen.dark', between(11, 13)],
      ['screen.recovered', between(62, 64)],
    ]);
    const [dark, recovered] = await town.notices();
    expect(dark).toMatchObject({ screenId: town.tvs[0]!.screenId, data: { condition: 'dark' } });
    expect(dark?.data).toMatchObject({ venue: 'Venue 0', screen: 'Screen 0' });
    expect(recovered?.data.since).toBe(dark?.data.since);
  });

  it('tells nothing of a TV that is away for less than 12 minutes, again and again', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 1 });
    for (let n = 0; n < 8; n++) town.tvs[0]!.off.push(span(n * 20, n * 20 + 10));
    await town.liveUntil(at(200));
    expect(await told()).toEqual([]);
  });

  it('tells neither twice nor wrongly over restarts and outages', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 2 });
    town.tvs[0]!.off.push(span(0, 120));
    town.down.push(span(30, 60), span(121, 121.5), span(140, 160));
    town.away.push(span(80, 110), span(180, 195));
    await town.liveUntil(at(240));
    expect(await told()).toEqual([
      ['screen.dark', between(11, 13)],
      ['screen.recovered', between(122, 125)],
    ]);
  });

  it('tells a venue of 50 that loses its router in 1 notice, and its return in 1', async () => {
    const { at, span, told } = await liveTown({ venues: 2, tvsPerVenue: 50 });
    for (const tv of town.venues[0]!.tvs) tv.off.push(span(0, 60));
    // One stays away, and is told when the others had time to come back.
    town.tvs[7]!.off.push(span(60, 120));
    await town.liveUntil(at(180));
    expect(await told()).toEqual([
      ['venue.dark', between(11, 13)],
      ['venue.recovered', between(62, 64)],
      ['screen.dark', between(72, 78)],
      ['screen.recovered', between(122, 124)],
    ]);
    const [dark] = await town.notices();
    expect(dark).toMatchObject({ venueId: town.venues[0]!.id, screenId: null });
    expect(dark?.data).toMatchObject({ venue: 'Venue 0', gone: 50, tvs: 50 });
  });

  it('tells a stopped app once, though its TV is dark later, and one recovery', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 1 });
    const [tv] = town.tvs;
    town.stopApp(tv!, at(0));
    await town.liveUntil(at(20));
    expect(await told()).toEqual([['screen.failing', between(2, 3)]]);
    tv!.off.push(span(20, 60));
    await town.liveUntil(at(61));
    town.stopApp(tv!, null);
    await town.liveUntil(at(80));
    expect(await told()).toEqual([
      ['screen.failing', between(2, 3)],
      ['screen.recovered', between(63, 65)],
    ]);
    const [first] = await town.notices();
    expect(first?.data.condition).toBe('stopped');
  });

  it('tells a hidden page once, though its TV is frozen later', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 1 });
    const [tv] = town.tvs;
    await town.hide(tv!, at(0), null);
    await town.liveUntil(at(20));
    expect(await told()).toEqual([['screen.failing', between(2, 3)]]);
    tv!.off.push(span(20, 60));
    await town.liveUntil(at(61));
    await town.hide(tv!, at(0), at(61));
    await town.liveUntil(at(80));
    expect(await told()).toEqual([
      ['screen.failing', between(2, 3)],
      ['screen.recovered', between(63, 65)],
    ]);
    const [first] = await town.notices();
    expect(first?.data.condition).toBe('hidden');
  });

  it('tells a stopped TV as dark if nobody was told that it was stopped', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 1 });
    const [tv] = town.tvs;
    town.stopApp(tv!, at(0));
    tv!.off.push(span(0, 60));
    await town.liveUntil(at(1));
    town.down.push(span(1, 30));
    await town.liveUntil(at(50));
    expect((await told()).map(([type]) => type)).toEqual(['screen.dark']);
  });

  it('tells no recovery of a TV that was revoked while it was dark', async () => {
    const { at, span, told } = await liveTown({ venues: 1, tvsPerVenue: 1 });
    town.tvs[0]!.off.push(span(0, 60));
    await town.liveUntil(at(20));
    await town.revoke(town.tvs[0]!);
    await town.liveUntil(at(80));
    expect((await told()).map(([type]) => type)).toEqual(['screen.dark']);
  });

  it('repeats none of 201 alarms after a restart', async () => {
    const { at, span, told } = await liveTown({ venues: 201, tvsPerVenue: 1 });
    for (const tv of town.tvs) tv.off.push(span(0, 30));
    await town.liveUntil(at(20));
    town.restart();
    await town.liveUntil(at(40));
    const types = (await told()).map(([type]) => type);
    expect(types.slice(0, 201)).toEqual(Array(201).fill('screen.dark'));
    expect(types.slice(201)).toEqual(Array(201).fill('screen.recovered'));
  });

  it('does not count TVs as gone that call seldom', async () => {
    const plan = { venues: 1, tvsPerVenue: 4, minutesBetweenCalls: 4.5 };
    const { at, span, told } = await liveTown(plan);
    town.tvs[0]!.off.push(span(0, 60));
    await town.liveUntil(at(90));
    expect((await told()).map(([type]) => type)).toEqual(['screen.dark', 'screen.recovered']);
  });

  it('tells nothing outside the hours, and gives TVs time after the opening', async () => {
    town = await makeTown({ venues: 1, tvsPerVenue: 2, withHours: 1 });
    const at = (hours: number) => town.startMs + hours * hourMs;
    town.tvs[0]!.off.push({ startMs: at(22), endMs: at(32.1) });
    town.tvs[1]!.off.push({ startMs: at(22), endMs: at(40) });
    await town.liveUntil(at(42));
    const told = (await town.notices()).map((one) => [one.type, one.screenId, one.at]);
    const { screenId } = town.tvs[1]!;
    expect(told).toEqual([
      ['screen.dark', screenId, between(at(32) + tellMs - minuteMs, at(32) + tellMs + stepMs)],
      ['screen.recovered', screenId, between(at(40), at(40) + 4 * minuteMs)],
    ]);
  });

  it('tells a page that is hidden for the night only after the opening', async () => {
    town = await makeTown({ venues: 1, tvsPerVenue: 1, withHours: 1 });
    const at = (hours: number) => town.startMs + hours * hourMs;
    await town.hide(town.tvs[0]!, at(0), null);
    await town.liveUntil(at(10));
    expect((await town.notices()).map((one) => [one.type, one.at])).toEqual([
      ['screen.failing', between(at(8) + tellMs - minuteMs, at(8) + tellMs + stepMs)],
    ]);
  });

  it('tells nothing on a holiday, and of a TV that stays dark after it', async () => {
    town = await makeTown({ venues: 1, tvsPerVenue: 2, withHours: 1, closedOn: '2026-11-24' });
    const at = (hours: number) => town.startMs + hours * hourMs;
    for (const tv of town.tvs) tv.off.push({ startMs: at(22), endMs: at(56) });
    await town.liveUntil(at(55));
    expect(await town.notices()).toEqual([]);
    town.tvs[1]!.off.push({ startMs: at(56), endMs: at(60) });
    await town.liveUntil(at(58));
    expect((await town.notices()).map((one) => [one.type, one.screenId])).toEqual([
      ['screen.dark', town.tvs[1]!.screenId],
    ]);
  });

  it('tells the same TVs on a day that is no holiday', async () => {
    town = await makeTown({ venues: 1, tvsPerVenue: 2, withHours: 1 });
    const at = (hours: number) => town.startMs + hours * hourMs;
    for (const tv of town.tvs) tv.off.push({ startMs: at(22), endMs: at(56) });
    await town.liveUntil(at(34));
    expect((await town.notices()).map(({ type }) => type)).toEqual(['screen.dark', 'screen.dark']);
  });

  it('tells nothing of a TV that has not called since its registration', async () => {
    town = await makeTown({ venues: 1, tvsPerVenue: 1 });
    town.tvs[0]!.off.push({ startMs: town.startMs, endMs: town.startMs + dayMs });
    await town.liveUntil(town.startMs + hourMs);
    expect(await town.notices()).toEqual([]);
  });

  it('tells all that happens in a town in a day, and nothing else', async () => {
    town = await makeTown({ venues: 2, tvsPerVenue: 6, withHours: 1 });
    planTrouble(town, 1, 3);
    await town.liveUntil(town.startMs + dayMs + 9 * hourMs);
    const verdict = judgeNotices(town, await town.notices(), town.clock.now());
    expect(verdict.wrong).toEqual([]);
    expect(verdict.outages).toBeGreaterThan(0);
  });
});

const unpaired: JudgedScreen = {
  screen: sampleRow('screens', 1),
  device: undefined,
  playlist: undefined,
  delivered: undefined,
  judged: {
    judgement: { condition: 'unpaired', since: null, errors: [] },
    activity: undefined,
    playlist: undefined,
    facts: undefined,
    config: effectiveConfig([]),
  },
};

/** Returns the stores of two instances on one database, and what makes their watches. */
async function twoWatches() {
  const url = await freshDatabase();
  await emptyDatabase(url);
  const clock = new ManualClock();
  const stores = await Promise.all([1, 2].map(() => openStore(url, { clock })));
  const newId = makeIdSource(clock);
  return {
    clock,
    stores,
    watchOf: (instance: number, judgeAll: () => AsyncGenerator<JudgedScreen>) =>
      new ScreenWatch({ store: stores[instance]!, clock, newId }, judgeAll, new NoticeFigures()),
    end: () => Promise.all(stores.map((store) => store.close())),
  };
}

describe('the watch of two instances', () => {
  it('is held by one. The other takes over within 30 seconds, or at once after a stop', async () => {
    const { clock, stores, watchOf, end } = await twoWatches();
    const [one, other] = [0, 1].map((instance) => watchOf(instance, async function* () {}));
    expect(await one!.look()).toBe(true);
    expect(await other!.look()).toBe(false);
    clock.advance(15 * secondMs);
    expect(await one!.look()).toBe(true);
    clock.advance(15 * secondMs);
    expect(await other!.look()).toBe(false);
    clock.advance(10 * secondMs);
    expect(await Promise.all([other!.look(), one!.look()])).toContain(false);
    const watch = await stores[0]!.read.get('watches', 'watch');
    expect(watch?.hearingSince).toBe(clock.now() - 40 * secondMs);
    await Promise.all([one!.release(), other!.release()]);
    expect(await one!.look()).toBe(true);
    await end();
  });

  it('is held by one through a look that takes a minute', async () => {
    const { clock, watchOf, end } = await twoWatches();
    const seen: boolean[] = [];
    const other = watchOf(1, async function* () {});
    const one = watchOf(0, async function* () {
      for (let slice = 0; slice < 10; slice++) {
        clock.advance(6 * secondMs);
        yield unpaired;
        seen.push(await other.look());
      }
    });
    expect(await one.look()).toBe(true);
    expect(seen).toEqual(Array(10).fill(false));
    await end();
  });

  it('ends without a decision if another takes over during a look', async () => {
    const { clock, stores, watchOf, end } = await twoWatches();
    // A look that ends without this screen would end its alarm.
    const alarm = sampleRow('alarms', 1, { screenId: 'screen-1' });
    await stores[0]!.write((tx) => tx.put('alarms', alarm));
    const one = watchOf(0, async function* () {
      clock.advance(30 * secondMs);
      const watch = await stores[1]!.read.get('watches', 'watch');
      await stores[1]!.write((tx) =>
        tx.put('watches', { ...watch!, holder: 'other', lookedAt: clock.now() }),
      );
      yield unpaired;
    });
    await expect(one.look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await stores[0]!.read.get('alarms', alarm.id)).toEqual(alarm);
    await end();
  });

  it('delivers by the one that watches', async () => {
    const url = await freshDatabase();
    await emptyDatabase(url);
    const delivering = new Set<string>();
    const start = async (name: string) => {
      const clock = new ManualClock();
      const store = await openStore(url, { clock });
      const newId = makeIdSource(clock);
      const parts = {
        store,
        clock,
        noticeLog: makeNoticeLog(store),
        screenWatch: new ScreenWatch(
          { store, clock, newId },
          async function* () {},
          new NoticeFigures(),
        ),
        startDelivery() {
          delivering.add(name);
          return async () => void delivering.delete(name);
        },
      };
      const stop = startNoticeWatch(parts, silentLog);
      return { clock, stop: () => stop().then(() => store.close()) };
    };
    const shown = () => [...delivering].sort();
    const one = await start('one');
    await expect.poll(shown).toEqual(['one']);
    const other = await start('other');
    // The first one stands still for longer than its lease, and notices it then.
    other.clock.advance(30 * secondMs);
    await expect.poll(shown).toEqual(['one', 'other']);
    one.clock.set(other.clock.now());
    one.clock.advance(5 * secondMs);
    await expect.poll(shown).toEqual(['other']);
    await other.stop();
    expect(shown()).toEqual([]);
    one.clock.advance(5 * secondMs);
    await expect.poll(shown).toEqual(['one']);
    await one.stop();
    expect(shown()).toEqual([]);
  });
});
