// Tests the comparison at the end of a run against services with one seeded defect each.
import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/domain/clock.ts';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import type { TelemetryEvent } from '../../../src/domain/events/event.ts';
import type { EventBatch } from '../../../src/store/queries.ts';
import type { Store } from '../../../src/store/store.ts';
import { adminToken as token } from '../../support/service/service.ts';
import { type DefectName, serveWithDefect } from '../../support/stores/seeded-defects.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

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

/** Starts a service with these members of its store replaced. */
async function serveOver(change: (store: Store) => Partial<Store>): Promise<string> {
  return (await serveWithDefect({ store: change })).url;
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

  const appends =
    (change: (events: TelemetryEvent[]) => object[]) =>
    (store: Store): Partial<Store> => ({
      appendBatch: (batch) => store.appendBatch(withEvents(batch, change)),
    });
  it.each<[string, (store: Store) => Partial<Store>, string[]]>([
    [
      'stores everything twice',
      (store) => ({
        async appendBatch({ idempotency: _once, ...batch }) {
          await store.appendBatch(batch);
          return store.appendBatch(batch);
        },
      }),
      ['events_duplicated'],
    ],
    [
      'drops the last event of a batch',
      appends((events) => (events.length > 1 ? events.slice(0, -1) : events)),
      ['events_lost'],
    ],
    [
      'alters stored events',
      appends((events) => events.map((event) => ({ ...event, timestamp: event.timestamp + 1 }))),
      ['events_lost', 'events_strange'],
    ],
    [
      'invents events',
      appends((events) => [...events, { ...events[0], made: 'up' }]),
      ['events_strange'],
    ],
  ])('%s is detected', async (_, change, codes) => {
    expect(await codesFound(await serveOver(change))).toEqual(expect.arrayContaining(codes));
  });

  it('occasionally loses a batch is detected as nothing else', async () => {
    let count = 0;
    const url = await serveOver((store) => ({
      appendBatch: async (batch) => (++count % 20 === 0 ? 'stored' : store.appendBatch(batch)),
    }));
    expect(await codesFound(url)).toEqual(['events_lost']);
  });

  it('miscounts impressions in its report is detected as nothing else', async () => {
    const url = await serveOver((store) => ({
      impressions: async (query) =>
        (await store.impressions(query)).map((row) => ({
          ...row,
          impressions: row.impressions - 1,
        })),
    }));
    expect(await codesFound(url)).toEqual(['report_differs']);
  });
});
