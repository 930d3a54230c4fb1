import { expect, it } from 'vitest';
import { dayMs } from '../../src/domain/clock.ts';
import { nodeFileSystem } from '../../src/store/json/disk/file-system.ts';
import { openJsonStore } from '../../src/store/json/open.ts';
import type { EventBatch, StoredEvent } from '../../src/store/queries.ts';
import { batchOf, guid, impression, tenantA } from '../store/sample-batch.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { longestHoldMs, timeCalls, timed } from './measure.ts';

const days = 30;
const batchesPerDay = 667;
const eventsPerBatch = 100;
const concurrency = 64;
const screens = 1000;

/** Runs `work` and measures its duration and the longest hold of the event loop. */
async function watched<T>(work: () => Promise<T>) {
  let measured: { ms: number; result: T } | undefined;
  const holdMs = await longestHoldMs(async () => {
    measured = await timed(work);
  });
  return { ...(measured as { ms: number; result: T }), holdMs };
}

it('append, pages, reports and start with 2 million events', async () => {
  const say = (text: string) => console.log(text);
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const context = { disk: nodeFileSystem, directory: folder, clock, lowWaterBytes: 0, warn: say };
  // Without the lock of the folder, so that it can be opened again as if the process had crashed.
  const open = () =>
    openJsonStore(
      context,
      (length) => new Uint8Array(length),
      async () => {},
    );
  const store = await open();

  let appendMs = 0;
  let made = 0;
  for (let day = 0; day < days; day++) {
    const samples = Array.from({ length: 50 }, (_, venue) => {
      const events = Array.from({ length: eventsPerBatch }, (_, n) =>
        impression(clock.now() + n * 1000, {
          duration: 15,
          campaignId: guid('camp', n % 20),
          creativeId: guid('crea', n % 50),
        }),
      );
      return batchOf(events, { venueId: guid('venu', venue) });
    });
    appendMs += await timeCalls(batchesPerDay, concurrency, () => {
      const screen = made++ % screens;
      const sample = samples[screen % 50] as EventBatch;
      const idempotency = { key: `batch ${made}`, sent: sample.body };
      return store.appendBatch({
        ...sample,
        screenId: guid('scre', screen),
        deviceId: guid('devi', screen),
        idempotency,
      });
    });
    if (day < days - 1) clock.advance(dayMs);
  }
  say(
    `${made} batches of ${eventsPerBatch}, ${concurrency} at a time: ${Math.round((made / appendMs) * 1000)} durable batches/s`,
  );

  const query = { tenantId: tenantA, order: 'desc' as const, limit: 200 };
  const last = (made - 1) * eventsPerBatch;
  let after: string | undefined;
  let seen = 0;
  const page = async () => store.events({ ...query, ...(after === undefined ? {} : { after }) });
  for (const depth of [0, 1, 10, 100, 1000]) {
    for (; seen < depth; seen++) after = (await page()).next ?? undefined;
    const { ms, result } = await timed(page);
    expect(result.items).toHaveLength(200);
    say(`page ${depth + 1} of 200 events, newest first: ${ms.toFixed(1)} ms`);
  }
  const oldest = await timed(() => store.events({ ...query, order: 'asc' }));
  const middle = oldest.result.items.at(-1) as StoredEvent;
  const deep = await timed(() =>
    store.events({ ...query, to: middle.receivedAt + (days / 2) * dayMs }),
  );
  say(
    `a page of the oldest events: ${oldest.ms.toFixed(1)} ms; a page from the middle by time: ${deep.ms.toFixed(1)} ms (${last} events)`,
  );
  const rare = await watched(() => store.events({ ...query, deviceId: guid('none', 1) }));
  say(
    `a page without matches in 32 MiB: ${rare.ms.toFixed(0)} ms, longest hold ${rare.holdMs.toFixed(0)} ms`,
  );

  const crashed = await timed(open);
  say(`start after a crash: ${crashed.ms.toFixed(0)} ms`);
  await crashed.result.close();
  const clean = await timed(open);
  say(`start after a clean stop: ${clean.ms.toFixed(0)} ms`);
  for (const groupBy of ['campaign', 'screen', 'day'] as const) {
    const { ms, result, holdMs } = await watched(() =>
      clean.result.impressions({ tenantId: tenantA, groupBy, by: 'timestamp' }),
    );
    expect(result.reduce((sum, row) => sum + row.impressions, 0)).toBe(made * eventsPerBatch);
    say(
      `report by ${groupBy} over ${days} days: ${ms.toFixed(0)} ms, ${result.length} rows, longest hold ${holdMs.toFixed(0)} ms`,
    );
  }
  await clean.result.close();
});

it('checkpoint of 100,000 changed screens', async () => {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const context = {
    disk: nodeFileSystem,
    directory: folder,
    clock,
    lowWaterBytes: 0,
    warn: () => {},
  };
  const store = await openJsonStore(
    context,
    (length) => new Uint8Array(length),
    async () => {},
  );
  for (let round = 0; round < 2; round++) {
    const put = (n: number) =>
      store.appendBatch(
        batchOf([impression(clock.now())], {
          screenId: guid('scre', n),
          deviceId: guid('devi', n),
          venueId: guid('venu', n % 5000),
          key: `${round}`,
        }),
      );
    for (let n = 0; n < 100_000; n += 1000)
      await Promise.all(Array.from({ length: 1000 }, (_, at) => put(n + at)));
    const before = await nodeFileSystem.list(`${folder}/documents`);
    const { ms, holdMs } = await watched(async () => {
      clock.advance(60_000);
      const rolled = async () =>
        (await nodeFileSystem.list(`${folder}/documents`)).filter(
          (name) => name.startsWith('rollups') && name.endsWith('.json'),
        );
      while (
        (await rolled()).every((name) => before.includes(name)) ||
        (await nodeFileSystem.list(`${folder}/documents`)).some((name) => name.endsWith('.tmp'))
      ) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    console.log(
      `checkpoint ${round + 1}: about ${ms.toFixed(0)} ms, longest hold ${holdMs.toFixed(0)} ms`,
    );
  }
  await store.close();
});
