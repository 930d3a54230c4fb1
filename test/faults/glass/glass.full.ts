import { afterEach, beforeEach, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/domain/clock.ts';
import { item } from '../../support/service/content.ts';
import { type Kind, kinds, makeTown, type Town, TownTv } from './town.ts';

const items = [1, 2, 3].map((number) =>
  item({ creativeId: `00000000-0000-4000-8000-00000000000${number}`, duration: 10 * number }),
);
const longestItemMs = 30 * secondMs;
/** The window of docs/protocol.md §2.7 with the default config. */
const windowMs = 10 * minuteMs;
const heartbeatMs = minuteMs;
const syncMs = 5 * minuteMs;
/** Time between two looks at the conditions. */
const lookMs = minuteMs;
const bad = ['dark', 'stopped', 'failing', 'silent'];
const players: readonly Kind[] = ['simulator', 'tv', 'web'];

let town: Town;
beforeEach(async () => {
  town = await makeTown();
});
afterEach(() => town.close());

interface Fault {
  name: string;
  condition: string;
  of: readonly Kind[];
  plant(tv: TownTv): unknown;
  /** Time after which the rule must see it. */
  withinMs(kind: Kind): number;
}

/** Time until a TV of this kind has reported what it shows. */
const reportedMs = (kind: Kind) => (kind === 'slow' ? 30 * minuteMs : heartbeatMs) + longestItemMs;
const playlistOf = ({ screenId }: TownTv) => `/v1/screens/${screenId}/playlist`;

const faults: readonly Fault[] = [
  {
    name: 'power cut',
    condition: 'dark',
    of: kinds,
    plant: (tv) => tv.cutPower(),
    withinMs: () => windowMs,
  },
  {
    name: 'network cut',
    condition: 'dark',
    of: kinds,
    plant: (tv) => tv.connect(false),
    withinMs: () => windowMs,
  },
  {
    name: 'app stopped',
    condition: 'stopped',
    of: players,
    plant: (tv) => tv.stop(),
    withinMs: () => heartbeatMs,
  },
  {
    name: 'all items fail',
    condition: 'failing',
    of: [...players, 'slow', 'epoch'],
    plant(tv) {
      tv.failure = 'http_404';
    },
    withinMs: (kind) => 2 * reportedMs(kind),
  },
  {
    name: 'one item fails',
    condition: 'partly_failing',
    of: [...players, 'slow'],
    plant(tv) {
      tv.failing = 'one';
      tv.failure = 'codec';
    },
    withinMs: (kind) => 2 * longestItemMs + reportedMs(kind),
  },
  {
    name: 'app hangs',
    condition: 'silent',
    of: [...players, 'slow', 'epoch'],
    plant(tv) {
      tv.isFrozen = true;
    },
    withinMs: (kind) =>
      Math.max(windowMs, kind === 'slow' ? 3 * 31 * minuteMs : 0) +
      2 * longestItemMs +
      reportedMs(kind),
  },
  {
    name: 'playlist withdrawn',
    condition: 'idle',
    of: kinds,
    plant: (tv) => town.manage('DELETE', playlistOf(tv)),
    withinMs: () => 0,
  },
  {
    name: 'new playlist does not arrive',
    condition: 'outdated',
    of: players,
    plant(tv) {
      tv.isWithoutPlaylists = true;
      return town.manage('PUT', playlistOf(tv), { items: [item(), ...items] });
    },
    withinMs: () => 2 * syncMs,
  },
  {
    name: 'never switched on',
    condition: 'unpaired',
    of: ['simulator'],
    plant: () => {},
    withinMs: () => 0,
  },
  {
    name: 'app reports nothing',
    condition: 'unconfirmed',
    of: ['mute'],
    plant: () => {},
    withinMs: () => 0,
  },
];

/** A stopped TV no longer calls, either. */
const isLater = (fault: Fault, condition: string) =>
  fault.condition === 'stopped' && condition === 'dark';
/** A TV without power plays nothing, which may be seen before it is missed. */
const isWrong = (fault: Fault, condition: string) =>
  bad.includes(condition) && !(fault.condition === 'dark' && condition === 'silent');

it('names 40 planted faults in 6 kinds of TVs as soon as the rule allows', async () => {
  const planted: { fault: Fault; tv: TownTv }[] = [];
  for (const fault of faults)
    for (const kind of fault.of) planted.push({ fault, tv: await TownTv.make(town, kind, items) });
  expect(planted).toHaveLength(40);
  for (const { fault, tv } of planted) if (fault.condition !== 'unpaired') tv.switchOn();
  await town.advance(2 * hourMs);
  const before = await town.conditions();
  expect(
    planted.filter(({ tv }) => bad.includes(before.get(tv.screenId)?.condition ?? '')),
  ).toEqual([]);
  for (const { fault, tv } of planted) await fault.plant(tv);
  const plantedAtMs = town.clock.now();
  const found = new Map<TownTv, number>();
  const others = new Set<string>();
  while (town.clock.now() < plantedAtMs + 3 * hourMs) {
    const now = await town.conditions();
    for (const { fault, tv } of planted) {
      const condition = now.get(tv.screenId)?.condition ?? '';
      if (condition === fault.condition)
        found.set(tv, found.get(tv) ?? town.clock.now() - plantedAtMs);
      else if (found.has(tv) ? !isLater(fault, condition) : isWrong(fault, condition))
        others.add(`${fault.name} of ${tv.kind}: ${condition}`);
    }
    await town.advance(lookMs);
  }
  for (const { fault, tv } of planted)
    console.log(
      `${fault.name} of ${tv.kind}: ${fault.condition} after ${(found.get(tv) ?? NaN) / minuteMs} min`,
    );
  const late = planted.filter(
    ({ fault, tv }) =>
      !((found.get(tv) ?? Number.POSITIVE_INFINITY) <= fault.withinMs(tv.kind) + 2 * lookMs),
  );
  expect(late.map(({ fault, tv }) => `${fault.name} of ${tv.kind}`)).toEqual([]);
  expect([...others]).toEqual([]);
});

/** A generator of numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

it('calls no healthy TV bad: 200 TVs for a day, with reboots, outages and slow links', async () => {
  const random = seeded(2026);
  const tvs: TownTv[] = [];
  for (let number = 0; number < 200; number++)
    tvs.push(await TownTv.make(town, kinds[number % kinds.length] as Kind, items));
  for (const tv of tvs) {
    if (random() < 0.15) tv.delayMs = 3000 + random() * 15_000;
    tv.switchOn();
  }
  const counts = { reboots: 0, outages: 0, looks: 0, dark: 0 };
  const wrong = new Map<string, number>();
  const endMs = town.clock.now() + dayMs;
  const perLook = (timesADay: number) => (timesADay * 5 * minuteMs) / dayMs;
  while (town.clock.now() < endMs) {
    for (const tv of tvs) {
      if (random() < perLook(2)) {
        counts.reboots++;
        tv.cutPower();
        town.clock.after(20 * secondMs + random() * 15 * minuteMs, () => tv.switchOn());
      } else if (tv.isConnected && random() < perLook(1)) {
        counts.outages++;
        tv.connect(false);
        town.clock.after(minuteMs + random() * 2 * hourMs, () => tv.connect(true));
      }
    }
    await town.advance(5 * minuteMs);
    counts.looks++;
    const now = await town.conditions();
    for (const tv of tvs) {
      const { condition = '', reason = '' } = now.get(tv.screenId) ?? {};
      if (condition === 'dark') counts.dark++;
      const isAway = !tv.isOn || !tv.isConnected || town.clock.now() - tv.changedAtMs <= windowMs;
      if (bad.includes(condition) && !(condition === 'dark' && isAway)) {
        const what = `${tv.kind}: ${condition} (${reason})`;
        wrong.set(what, (wrong.get(what) ?? 0) + 1);
      }
    }
  }
  console.log(JSON.stringify(counts));
  expect(Object.fromEntries(wrong)).toEqual({});
});
