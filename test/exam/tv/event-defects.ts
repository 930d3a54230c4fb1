import { randomUUID } from 'node:crypto';
import { correctHabits, type Habits } from './habits.ts';
import type { SeededDefect } from './seeded-defect.ts';

const { parts } = correctHabits;

function countedKeys(): Partial<Habits> {
  let count = 0;
  return {
    batchKey: () => `batch-${++count}`,
    afterPowerCut: (state) => {
      count = 0;
      return state;
    },
  };
}

/** Defects of events and their batches (docs/protocol.md §2.5). */
export const eventDefects: Readonly<Record<string, SeededDefect>> = {
  'sends no events': {
    habits: { reports: false },
    fails: ['tv.events.sends'],
  },
  'sends no Idempotency-Key': {
    habits: {
      batchKey: () => undefined,
      repaired: (batch, wrong) =>
        correctHabits.repaired(batch, wrong).map((one) => ({ ...one, key: undefined })),
      parts: (batch) => parts(batch).map((part) => ({ ...part, key: undefined })),
    },
    fails: [
      'tv.events.idempotency-key',
      'tv.events.same-bytes-same-key',
      'tv.events.same-batch-after-500',
      'tv.events.same-batch-after-503',
      'tv.events.no-duplicates',
    ],
  },
  'sends each retry under a new key': {
    habits: { batchForRetry: (batch) => ({ ...batch, key: randomUUID() }) },
    fails: [
      'tv.events.same-bytes-same-key',
      'tv.events.same-batch-after-500',
      'tv.events.same-batch-after-503',
      'tv.events.no-duplicates',
    ],
  },
  'adds an event to each retry': {
    habits: {
      batchForRetry: ({ key, events }) => ({ key, events: [...events, ...events.slice(0, 1)] }),
    },
    fails: [
      'tv.events.new-batch-new-key',
      'tv.events.same-bytes-same-key',
      'tv.events.same-batch-after-500',
      'tv.events.same-batch-after-503',
      'tv.events.no-duplicates',
    ],
  },
  'counts its Idempotency-Keys from 1 after a power cut': {
    habits: countedKeys(),
    fails: ['tv.events.new-batch-new-key'],
  },
  'drops the batch after a 500': {
    habits: { batchForRetry: (batch, { status }) => (status === 500 ? undefined : batch) },
    fails: ['tv.events.same-batch-after-500'],
  },
  'drops the batch after a 503': {
    habits: { batchForRetry: (batch, { status }) => (status === 503 ? undefined : batch) },
    fails: ['tv.events.same-batch-after-503'],
  },
  'drops the batch without an answer': {
    habits: { batchForRetry: (batch, { status }) => (status === 0 ? undefined : batch) },
    fails: ['tv.events.same-bytes-same-key', 'tv.network.keeps-events'],
  },
  'creates no events without a network': {
    habits: { keepsEvent: (status) => status !== 0 },
    fails: ['tv.network.plays-on', 'tv.power.plays-without-network'],
    needsFullExam: true,
  },
  'drops the good events of a batch with a bad one': {
    habits: { repaired: () => [] },
    fails: ['tv.events.400-sends-rest'],
  },
  'sends a refused batch again': {
    habits: { repaired: (batch) => [batch] },
    fails: ['tv.events.400-drops-named'],
  },
  'gives up after a 413': {
    habits: { parts: () => [] },
    fails: ['tv.events.413-sends-all'],
  },
  'sends the same batch after a 413': {
    habits: { parts: ({ events }) => [{ key: randomUUID(), events }] },
    fails: ['tv.events.413-smaller'],
  },
  'sends a part under the key of the whole batch': {
    habits: {
      parts: (batch) =>
        parts(batch).map((part, index) => (index === 0 ? { ...part, key: batch.key } : part)),
    },
    fails: ['tv.events.413-own-keys', 'tv.events.new-batch-new-key'],
  },
  'sends an accepted batch again': {
    habits: {
      afterAccepted: (batch) =>
        batch.wasAccepted ? [] : [{ ...batch, key: randomUUID(), wasAccepted: true }],
    },
    fails: ['tv.events.no-duplicates'],
  },
  'sends the timestamps of heartbeats as text': {
    habits: {
      event: (event) =>
        event.type === 'heartbeat' ? { ...event, timestamp: String(event.timestamp) } : event,
    },
    fails: ['tv.http.valid-requests', 'tv.config.heartbeat-interval'],
  },
  'names another playlist in its impressions': {
    habits: {
      event: (event) => (event.playlistId ? { ...event, playlistId: randomUUID() } : event),
    },
    fails: ['tv.playlist.impressions'],
  },
  'forgets its events in a power cut': {
    habits: { afterPowerCut: (state) => ({ ...state, queue: [], batches: [] }) },
    fails: ['tv.power.same-batch'],
  },
};
