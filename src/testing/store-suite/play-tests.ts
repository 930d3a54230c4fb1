import assert from 'node:assert/strict';
import { dayMs, hourMs } from '../../domain/clock.ts';
import { batchSums } from '../../domain/events/batch-counts.ts';
import type { TelemetryEvent } from '../../domain/events/event.ts';
import type { PlayPlace, PlayQuery } from '../../store/queries.ts';
import type { Store } from '../../store/store.ts';
import { batchOf, everything, guid, impression, tenantA, tenantB } from './sample-batch.ts';
import type { TestGroup } from './store-test.ts';

/** Returns all counts as texts: the place, the key and the numbers. */
export async function playsIn(store: Store, query: Partial<PlayQuery> = {}): Promise<string[]> {
  const begin = () => {
    let at: PlayPlace;
    const found: string[] = [];
    return {
      found,
      place(place: PlayPlace) {
        at = place;
        return true;
      },
      cell(key: { creativeId: string; campaignId: string; entryId: string }, ...counts: number[]) {
        const { day, shift, venueId, screenId, simulated } = at;
        const ids = [venueId, screenId, key.creativeId, key.campaignId].map((id) => id.slice(-1));
        const mark = simulated ? ' simulated' : '';
        found.push(
          `${day}${shift < 0 ? '' : '+'}${shift}${mark} ${ids.join('/')}/${key.entryId} ${counts.join(' ')}`,
        );
      },
    };
  };
  const all = await store.plays({ tenantId: tenantA, by: 'timestamp', ...query }, begin);
  const sums = new Map<string, number[]>();
  for (const text of all.found) {
    const words = text.split(' ');
    const counts = words.splice(-4).map(Number);
    const before = sums.get(words.join(' ')) ?? [0, 0, 0, 0];
    sums.set(
      words.join(' '),
      before.map((count, place) => count + (counts[place] as number)),
    );
  }
  return [...sums].map(([name, counts]) => `${name} ${counts.join(' ')}`).sort();
}

/** Tests of `plays`. */
export function playTests({ it, store, alsoAfterReopen }: TestGroup): void {
  const midnight = Date.UTC(2026, 10, 20);
  const day = midnight / dayMs;
  const saoPaulo = -3 * 3600;
  const located = (events: TelemetryEvent[], offsets = [saoPaulo], more = {}) =>
    batchOf(events, { sums: batchSums(events, offsets), ...more });
  const play = (timeMs: number, more = {}) => {
    const { campaignId: _campaign, ...event } = impression(timeMs, more);
    return { ...event, type: 'play' };
  };

  it('are counted by screen, UTC day, local day and key', async () => {
    const planned = { duration: 10, plannedDuration: 10 };
    await store.appendBatch(
      located([
        impression(midnight + hourMs, planned),
        impression(midnight + 4 * hourMs, { duration: 9.5, plannedDuration: 10 }),
        impression(midnight + 5 * hourMs, { duration: 9.4, plannedDuration: 10 }),
        impression(midnight + 5 * hourMs, { duration: 7, plannedDuration: 'x' }),
        play(midnight + 5 * hourMs, { entryId: 'Lunch', duration: 3 }),
      ]),
    );
    await store.appendBatch(located([impression(midnight + hourMs, planned)]));
    await alsoAfterReopen(async () => {
      assert.deepEqual(await playsIn(store), [
        `${day}+0 1/1/1//Lunch 1 3 0 1`,
        `${day}+0 1/1/1/1/ 3 25.9 1 1`,
        `${day}-1 1/1/1/1/ 2 20 0 0`,
      ]);
      assert.deepEqual(
        await store.impressions({ tenantId: tenantA, by: 'timestamp', groupBy: 'day' }),
        [],
      );
    });
  });

  it('by receipt are on the local day of the receipt', async () => {
    await store.appendBatch(
      located([impression(midnight), impression(midnight - dayMs)], [0, 0, -86_400]),
    );
    const [received] = (await store.events(everything({ limit: 1 }))).items;
    assert.ok(received);
    const receivedDay = Math.floor(received.receivedAt / dayMs);
    assert.deepEqual(await playsIn(store, { by: 'received' }), [
      `${receivedDay}-1 1/1/1/1/ 2 0 0 2`,
    ]);
  });

  it('are read of one tenant and between two UTC days, also those of wrong clocks', async () => {
    const days = [0, day - 1, day, 90_000];
    await store.appendBatch(
      located(
        days.map((one) => impression(one * dayMs)),
        [3600],
      ),
    );
    await store.appendBatch(located([impression(midnight)], [0], { tenantId: tenantB }));
    const name = (one: number) => `${one}+0 1/1/1/1/ 1 0 0 1`;
    await alsoAfterReopen(async () => {
      assert.deepEqual(await playsIn(store), days.map(name).sort());
      assert.deepEqual(await playsIn(store, { from: day, to: day + 1 }), [name(day)]);
      assert.deepEqual(await playsIn(store, { from: day + 1 }), [name(90_000)]);
      assert.deepEqual(await playsIn(store, { to: day - 1 }), [name(0)]);
    });
  });

  it('of places, keys and simulated devices are kept apart', async () => {
    const place = (n: number) => ({ venueId: guid('venu', n), screenId: guid('scre', n) });
    const of = (n: number) =>
      impression(midnight, { creativeId: guid('crea', n), campaignId: guid('camp', n) });
    await store.appendBatch(located([of(2), of(1)], [0], place(2)));
    await store.appendBatch(located([of(2), of(2)], [0], { ...place(2), simulated: true }));
    await store.appendBatch(
      located([of(3), impression(midnight, { entryId: 'Café☀' })], [0], place(1)),
    );
    await alsoAfterReopen(async () => {
      assert.deepEqual(await playsIn(store), [
        `${day}+0 1/1/1/1/Café☀ 1 0 0 1`,
        `${day}+0 1/1/3/3/ 1 0 0 1`,
        `${day}+0 2/2/1/1/ 1 0 0 1`,
        `${day}+0 2/2/2/2/ 1 0 0 1`,
        `${day}+0 simulated 2/2/2/2/ 2 0 0 2`,
      ]);
    });
  });

  it('of a place that the visitor leaves out are not given', async () => {
    await store.appendBatch(located([impression(midnight)]));
    const given: unknown[] = [];
    const visitor = { place: () => false, cell: (key: unknown) => given.push(key) };
    await alsoAfterReopen(async () => {
      await store.plays({ tenantId: tenantA, by: 'timestamp' }, () => visitor);
      assert.deepEqual(given, []);
    });
  });

  it('have no entry that is no text, and ids without regard to case', async () => {
    const creativeId = 'abcdefab-0000-4000-8000-00000000000a';
    const ids = [null, 7, '', 'x'.repeat(401), 'a\0', '\ud800'];
    await store.appendBatch(
      located(
        [
          ...ids.map((entryId) => impression(midnight, { entryId, creativeId })),
          impression(midnight, { creativeId: creativeId.toUpperCase() }),
        ],
        [0],
      ),
    );
    assert.deepEqual(await playsIn(store), [`${day}+0 1/1/a/1/ 7 0 0 7`]);
  });

  it('count a repeated batch once, and absurd durations', async () => {
    const durations = [Number.MAX_VALUE, Number.MAX_VALUE, 0.25].map((duration) =>
      impression(midnight, { duration }),
    );
    for (let time = 0; time < 2; time++)
      await store.appendBatch(located(durations, [0], { key: 'one' }));
    await alsoAfterReopen(async () => {
      const [only = ''] = await playsIn(store);
      const [events, seconds] = only.split(' ').slice(-4).map(Number);
      assert.equal(events, 3);
      assert.equal(seconds, 2 * 86_400 + 0.25);
    });
  });
}
