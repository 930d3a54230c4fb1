// Tests the comparison at the end of a run against services with one seeded defect each.
import { afterAll, describe, expect, it } from 'vitest';
import { hourMs, systemClock } from '../../src/domain/clock.ts';
import { batchSums } from '../../src/domain/events/batch-counts.ts';
import type { TelemetryEvent } from '../../src/domain/events/event.ts';
import { listen } from '../../src/http/listener/listener.ts';
import { decorateStore } from '../../src/service/store-decorator.ts';
import { openStore } from '../../src/store/open.ts';
import type { EventBatch } from '../../src/store/queries.ts';
import type { Store } from '../../src/store/store.ts';
import { mounted } from '../support/mounted.ts';
import { quickFleet } from '../support/quick-fleet.ts';
import { type DefectName, serveWithDefect } from '../support/seeded-defects.ts';
import { adminToken as token } from '../support/service.ts';

const faults = [
  'lost-answer:10%',
  'lost-answer:register:30%',
  'duplicate:10%',
  'revoked-key:every 90m',
  'power-cut:every 2h',
  'shared-code:100%',
];
const codesFound = async (url: string) => {
  const { reconciliation } = await quickFleet({ url, token, count: 2, lifeMs: 4 * hourMs, faults });
  return reconciliation.findings.map(({ code }) => code);
};

const running: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(running.map((close) => close())));

/** Starts a service whose store changes batches before storing them. */
async function serveOver(
  appendBatch: (store: Store, batch: EventBatch) => Promise<'stored' | 'repeated'>,
): Promise<string> {
  const store = await openStore('memory:', { clock: systemClock });
  const planted = decorateStore(store, { appendBatch: (batch) => appendBatch(store, batch) });
  const service = await mounted({ store: planted, clock: systemClock });
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch: service.fetch,
    onError: () => {},
  });
  running.push(() => listener.close().then(() => store.close()));
  return listener.url;
}

/** Returns the batch with other events. */
function withEvents(batch: EventBatch, change: (events: TelemetryEvent[]) => object[]): EventBatch {
  const events = change(JSON.parse(Buffer.from(batch.body).toString())) as TelemetryEvent[];
  return { ...batch, sums: batchSums(events), body: Buffer.from(JSON.stringify(events)) };
}

describe('a service without defects', () => {
  it('has no findings', async () =>
    expect(await codesFound((await serveWithDefect()).url)).toEqual([]));
});

describe('a service that', () => {
  it.each<[DefectName, string]>([
    ['acknowledges before storing, and loses', 'events_lost'],
    ['forgets idempotency keys', 'events_duplicated'],
    ['accepts a revoked key', 'revoked_key_accepted'],
    ['lets a used code work again', 'code_used_twice'],
    ['counts received off by one', 'received_differs'],
  ])('%s is detected', async (bug, code) => {
    expect(await codesFound((await serveWithDefect(bug)).url)).toContain(code);
  });

  it('stores everything twice is detected', async () => {
    const url = await serveOver(async (store, { idempotency: _once, ...batch }) => {
      await store.appendBatch(batch);
      return store.appendBatch(batch);
    });
    expect(await codesFound(url)).toContain('events_duplicated');
  });

  it('drops the last event of a batch is detected', async () => {
    const url = await serveOver((store, batch) =>
      store.appendBatch(
        withEvents(batch, (events) => (events.length > 1 ? events.slice(0, -1) : events)),
      ),
    );
    expect(await codesFound(url)).toContain('events_lost');
  });

  it('alters stored events is detected', async () => {
    const url = await serveOver((store, batch) =>
      store.appendBatch(
        withEvents(batch, (events) =>
          events.map((event) => ({ ...event, timestamp: event.timestamp + 1 })),
        ),
      ),
    );
    expect(await codesFound(url)).toEqual(
      expect.arrayContaining(['events_lost', 'events_strange']),
    );
  });

  it('occasionally loses a batch is detected', async () => {
    let count = 0;
    const url = await serveOver(async (store, batch) =>
      ++count % 20 === 0 ? 'stored' : store.appendBatch(batch),
    );
    expect(await codesFound(url)).toEqual(['events_lost']);
  });

  it('invents events is detected', async () => {
    const url = await serveOver((store, batch) =>
      store.appendBatch(withEvents(batch, (events) => [...events, { ...events[0], made: 'up' }])),
    );
    expect(await codesFound(url)).toContain('events_strange');
  });

  it('miscounts impressions in its report is detected', async () => {
    const store = await openStore('memory:', { clock: systemClock });
    const impressions: Store['impressions'] = async (query) =>
      (await store.impressions(query)).map((row) => ({ ...row, impressions: row.impressions - 1 }));
    const service = await mounted({
      store: decorateStore(store, { impressions }),
      clock: systemClock,
    });
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      fetch: service.fetch,
      onError: () => {},
    });
    running.push(() => listener.close().then(() => store.close()));
    expect(await codesFound(listener.url)).toEqual(['report_differs']);
  });
});
