import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeIdSource } from '../../src/domain/id.ts';
import { type LogSink, silentLog } from '../../src/domain/log.ts';
import { startHousekeeping } from '../../src/service/assembly/housekeeping.ts';
import type { SystemDependencies } from '../../src/service/context.ts';
import { decorateStore } from '../../src/service/store-decorator.ts';
import { openStore } from '../../src/store/location/open.ts';
import type { Rows } from '../../src/store/sections.ts';
import type { Store } from '../../src/store/store.ts';
import {
  codeRow,
  contentRow,
  creationRow,
  pastContentRow,
  pastPlaylistRow,
  playlistRow,
  sampleRow,
} from '../store/sample-rows.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { believeClock } from '../support/stores/believed-clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

let clock: ManualClock;
let store: Store;
let purges: number[];
let failure: Error | undefined;
let warnings: unknown[];
let stopHousekeeping: () => Promise<void>;

const log: LogSink = { ...silentLog, warn: (fields) => void warnings.push(fields.err) };
const code = (number: number, ends: Partial<Rows['codes']>) =>
  codeRow(number, {
    id: String(number).padStart(64, '0'),
    screenId: 's',
    expiresAt: clock.now() + 15 * minuteMs,
    ...ends,
  });

const put = (...codes: Rows['codes'][]) =>
  store.write(async (tx) => {
    for (const row of codes) await tx.put('codes', row);
  });

const left = async () =>
  (await store.read.select('codes', 'screenId', ['s'])).map(({ id }) => Number(id));

/** Advances the clock, one housekeeping run at a time. */
async function pass(rounds: number, roundMs: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const before = purges.length + warnings.length;
    clock.advance(roundMs);
    await expect.poll(() => purges.length + warnings.length, { interval: 1 }).toBe(before + 1);
    // All jobs wait for their next run.
    await expect.poll(() => clock.waiting, { interval: 1 }).toBe(3);
  }
}

const passMinutes = (minutes: number) => pass(minutes, minuteMs);
const passHours = (hours: number) => pass(hours, 60 * minuteMs);

beforeEach(async () => {
  clock = new ManualClock();
  purges = [];
  warnings = [];
  failure = undefined;
  // On its own clock, since the store also has timers.
  store = await openStore('memory:', { clock: new ManualClock() });
  const observedStore = decorateStore(store, {
    async purgeBefore(timeMs: number) {
      if (failure) throw failure;
      purges.push(timeMs);
      await store.purgeBefore(timeMs);
    },
  });
  const deps: SystemDependencies = {
    store: observedStore,
    clock,
    random: (length) => new Uint8Array(length),
    newId: makeIdSource(clock),
  };
  await believeClock(store);
  stopHousekeeping = startHousekeeping(deps, 90, log);
});

afterEach(async () => {
  await stopHousekeeping();
  await store.close();
});

describe('housekeeping of finished codes', () => {
  it('purges them 24 hours after they were used, cancelled or expired, and not before', async () => {
    const now = clock.now();
    await put(
      code(1, { state: 'used', usedAt: now }),
      code(2, { state: 'cancelled', cancelledAt: now + minuteMs }),
      code(3, {}),
      code(4, { expiresAt: now + 2 * dayMs }),
    );
    clock.set(now + dayMs - minuteMs);
    await passMinutes(1);
    expect(await left()).toEqual([1, 2, 3, 4]);
    await passMinutes(1);
    expect(await left()).toEqual([2, 3, 4]);
    await passMinutes(1);
    expect(await left()).toEqual([3, 4]);
    await passMinutes(14);
    expect(await left()).toEqual([4]);
  });

  it('purges all of them, however many there are', async () => {
    await put(
      ...Array.from({ length: 1201 }, (_, index) =>
        code(index, { state: 'used', usedAt: clock.now() }),
      ),
    );
    clock.set(clock.now() + dayMs + 1);
    await passMinutes(1);
    expect(await left()).toEqual([]);
  });
});

describe('housekeeping of events and audit entries', () => {
  it('purges them past their retention, once a minute', async () => {
    const start = clock.now();
    await passMinutes(2);
    expect(purges).toEqual([start + minuteMs - 90 * dayMs, start + 2 * minuteMs - 90 * dayMs]);
  });
});

describe('housekeeping of what was due', () => {
  it('keeps the items that nothing names as a loop, and purges it past its retention', async () => {
    const items = [{ creativeId: 'ABC', campaignId: 'D', duration: 5 }, { creativeId: 'e' }];
    const content = { ...pastContentRow(1, 0), items: JSON.stringify(items) };
    const ended = sampleRow('pastInputs', 1, { until: clock.now() });
    await store.write(async (tx) => {
      await tx.put('pastContents', content);
      await tx.put('pastInputs', ended);
    });
    await passHours(1);
    const loop = () => store.read.get('loops', content.id);
    await expect
      .poll(async () => (await loop())?.items)
      .toEqual([
        { creativeId: 'abc', campaignId: 'd', duration: 5 },
        { creativeId: 'e', duration: 0 },
      ]);
    expect(await store.read.get('pastContents', content.id)).toBeUndefined();
    expect(await store.read.get('pastInputs', ended.id)).toEqual(ended);
    clock.set(clock.now() + 92 * dayMs);
    await passHours(1);
    await expect.poll(loop).toBeUndefined();
    expect(await store.read.get('pastInputs', ended.id)).toBeUndefined();
  });
});

describe('a failed housekeeping run', () => {
  it('is logged, and the next run still happens', async () => {
    failure = new Error('the disk is full');
    await passMinutes(2);
    expect(warnings).toEqual([failure, failure]);
    failure = undefined;
    await passMinutes(1);
    expect(purges).toHaveLength(1);
    expect(warnings).toHaveLength(2);
  });
});

describe('housekeeping of creations', () => {
  const remaining = async () =>
    (await store.list('creations', { limit: 2000 })).items.map(({ id }) => id);

  it('purges all of them 24 hours after the creation, and not before', async () => {
    const now = clock.now();
    await store.write(async (tx) => {
      for (let number = 0; number < 1201; number++)
        await tx.put(
          'creations',
          creationRow(number, { createdAt: number < 1200 ? now : now + minuteMs }),
        );
    });
    clock.set(now + dayMs - 2 * minuteMs);
    await passMinutes(1);
    expect(await remaining()).toHaveLength(1201);
    await passMinutes(1);
    expect(await remaining()).toEqual([creationRow(1200).id]);
    await passMinutes(1);
    expect(await remaining()).toEqual([]);
  });
});

describe('stopping the housekeeping', () => {
  it('cancels the timer, and no further run starts', async () => {
    await passMinutes(1);
    await stopHousekeeping();
    expect(clock.waiting).toBe(0);
    clock.advance(10 * minuteMs);
    expect(purges).toHaveLength(1);
  });

  it('waits for the run in progress', async () => {
    await put(code(1, { state: 'used', usedAt: clock.now() - 2 * dayMs }));
    clock.advance(minuteMs);
    await stopHousekeeping();
    expect(purges).toHaveLength(1);
    expect(await left()).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});

describe('housekeeping of the items of playlists', () => {
  const kept = async () => {
    const tables = ['contents', 'pastContents'] as const;
    const rows = await Promise.all(
      tables.flatMap((table) =>
        [1, 2].map(async (number) => {
          const row = await store.read.get(table, `content-${number}`);
          return row && `${number} in ${table}`;
        }),
      ),
    );
    return rows.filter((row) => row !== undefined);
  };
  const name = (number: number) => store.write((tx) => tx.put('playlists', playlistRow(1, number)));

  beforeEach(async () => {
    await store.write(async (tx) => {
      for (const number of [1, 2]) await tx.put('contents', contentRow(number));
    });
    await name(1);
  });

  it('moves those that no newest version names, then purges those that no version names', async () => {
    await passHours(1);
    expect(await kept()).toEqual(['1 in contents', '2 in pastContents']);
    await passHours(1);
    expect(await kept()).toEqual(['1 in contents']);
    await store.write((tx) => tx.put('pastPlaylists', pastPlaylistRow(1, 1)));
    await name(2);
    await passHours(3);
    expect(await kept()).toEqual(['1 in pastContents']);
  });

  it('keeps those that were moved again, although the search cannot know why', async () => {
    await passHours(1);
    // As an instance does that the search of another one does not see.
    const movedAt = clock.now() + hourMs;
    await store.write((tx) => tx.put('pastContents', pastContentRow(2, movedAt)));
    await passHours(1);
    expect(await kept()).toEqual(['1 in contents', '2 in pastContents']);
    await passHours(1);
    expect(await kept()).toEqual(['1 in contents']);
  });
});
