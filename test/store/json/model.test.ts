import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../src/domain/error.ts';
import type { Playlist, Venue } from '../../../src/domain/records/rows.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { nameKey } from '../../../src/store/sections.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { guid, tenantA, tenantB } from '../sample-batch.ts';
import { pastPlaylistRow, venueRow } from '../sample-rows.ts';
import { CrashDisk } from './crash-disk.ts';

/** A minimal model of the store. */
interface Model {
  venues: Map<string, Venue>;
  past: Map<string, Playlist>;
}

type Step =
  | { do: 'put'; number: number; name: number; tenantId: string }
  | { do: 'delete'; number: number }
  | { do: 'past'; screen: number; version: number; gone: boolean };

type Action =
  | { changes: { steps: Step[]; fails: boolean }[] }
  | { restart: 'stop' | 'kill' | 'power cut'; failAt: number | undefined }
  | { minute: true; failAt: number | undefined };

const few = fc.nat({ max: 5 });
/** Number of the disk operation after which all others fail, if any. */
const failAt = fc.option(fc.nat(30), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    number: few,
    name: few,
    tenantId: fc.constantFrom(tenantA, tenantB),
  }),
  fc.record({ do: fc.constant('delete' as const), number: few }),
  fc.record({
    do: fc.constant('past' as const),
    screen: fc.nat({ max: 2 }),
    version: few,
    gone: fc.boolean(),
  }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      changes: fc.array(
        fc.record({ steps: fc.array(step, { maxLength: 5 }), fails: fc.boolean() }),
        { maxLength: 4 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      restart: fc.constantFrom('stop' as const, 'kill' as const, 'power cut' as const),
      failAt,
    }),
  },
  { weight: 1, arbitrary: fc.record({ minute: fc.constant(true as const), failAt }) },
);

/** Applies one step to the model. Returns the id of the conflicting row. */
function stepInModel({ venues, past }: Model, one: Step): string | undefined {
  if (one.do === 'past') {
    const row = pastPlaylistRow(one.screen, one.version);
    if (one.gone) past.delete(row.id);
    else past.set(row.id, row);
  } else if (one.do === 'delete') venues.delete(guid('venu', one.number));
  else {
    const row = rowOf(one);
    const holder = [...venues.values()].find(
      ({ id, tenantId, name }) =>
        id !== row.id && nameKey(tenantId, name) === nameKey(row.tenantId, row.name),
    );
    if (holder) return holder.id;
    venues.set(row.id, row);
  }
  return undefined;
}

function rowOf({ number, name, tenantId }: Step & { do: 'put' }): Venue {
  return venueRow(number, { name: `Name ${name}`, tenantId });
}

async function stepInStore(tx: Tx, one: Step): Promise<string | undefined> {
  if (one.do === 'past') {
    const row = pastPlaylistRow(one.screen, one.version);
    await (one.gone ? tx.delete('pastPlaylists', row.id) : tx.put('pastPlaylists', row));
    return undefined;
  }
  if (one.do === 'delete') {
    await tx.delete('venues', guid('venu', one.number));
    return undefined;
  }
  return tx.put('venues', rowOf(one)).then(
    () => undefined,
    (error: unknown) => {
      if (hasCode(error, 'conflict')) return error.existingId;
      throw error;
    },
  );
}

/** Runs the change in both; their reads must be equal. */
async function change(
  store: Store,
  model: Model,
  { steps, fails }: { steps: Step[]; fails: boolean },
): Promise<void> {
  const after: Model = { venues: new Map(model.venues), past: new Map(model.past) };
  const expected = steps.map((one) => stepInModel(after, one));
  const changing = store.write(async (tx) => {
    const found = [];
    for (const one of steps) found.push(await stepInStore(tx, one));
    expect(found).toEqual(expected);
    await compare(tx, after);
    if (fails) throw new Error('planted');
  });
  if (!fails) Object.assign(model, after);
  await changing.catch((error: Error) => {
    if (error.message !== 'planted') throw error;
  });
}

async function compare(
  reader: Pick<Tx, 'get' | 'find' | 'select' | 'count'>,
  { venues, past }: Model,
): Promise<void> {
  const byId = <R extends { id: string }>(rows: Iterable<R>) =>
    [...rows].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const tenantId of [tenantA, tenantB]) {
    const expected = byId([...venues.values()].filter((row) => row.tenantId === tenantId));
    expect(await reader.select('venues', 'tenantId', [tenantId])).toEqual(expected);
    expect(await reader.count('venues', 'tenantId', tenantId)).toBe(expected.length);
    for (let name = 0; name <= 5; name++) {
      const key = nameKey(tenantId, `Name ${name}`);
      const holder = expected.find((row) => nameKey(tenantId, row.name) === key);
      expect(await reader.find('venues', 'name', key)).toEqual(holder);
    }
  }
  for (let number = 0; number <= 5; number++)
    expect(await reader.get('venues', guid('venu', number))).toEqual(
      venues.get(guid('venu', number)),
    );
  const screens = [0, 1, 2].map((screen) => guid('scre', screen));
  expect(await reader.select('pastPlaylists', 'screenId', screens)).toEqual(byId(past.values()));
}

describe('the embedded store', () => {
  it('behaves like a map of rows in any sequence of changes and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
        const clock = new ManualClock();
        const model: Model = { venues: new Map(), past: new Map() };
        let disk = new CrashDisk();
        let store = await openStore('memory:', { disk, clock });
        const restart = async (how: 'stop' | 'kill' | 'power cut') => {
          if (how === 'stop') await store.close();
          else disk = how === 'kill' ? disk.afterKill() : disk.afterPowerCut(0.5);
          store = await openStore('memory:', { disk, clock });
        };
        for (const one of actions) {
          if ('minute' in one) {
            // The checkpoint may crash at any step.
            if (one.failAt !== undefined) disk.failAt = disk.changes + one.failAt;
            clock.advance(60_000);
            for (let turn = 0; turn < 40; turn++) await setImmediate();
            if (one.failAt !== undefined) await restart('power cut');
          } else if ('restart' in one) {
            if (one.failAt !== undefined && one.restart !== 'stop') {
              // The start after a crash may crash, too.
              disk = disk.afterPowerCut(0.5);
              disk.failAt = one.failAt;
              await openStore('memory:', { disk, clock }).catch(() => undefined);
            }
            await restart(one.restart);
          } else {
            // Concurrently, so that they share a group commit. The model runs them one after
            // another.
            await Promise.all(one.changes.map((each) => change(store, model, each)));
          }
          await compare(store.read, model);
          const listed = await store.list('venues', { limit: 100 });
          expect(listed.items.length).toBe(model.venues.size);
        }
        await store.close();
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
