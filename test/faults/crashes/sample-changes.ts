import type { EventBatch } from '../../../src/store/queries.ts';
import type { Rows, TableName } from '../../../src/store/sections.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { batchOf, guid, impression, tenantA } from '../../store/sample-batch.ts';
import {
  auditRow,
  codeRow,
  configRow,
  contentRow,
  deviceKeyRow,
  deviceRow,
  pastContentRow,
  pastPlaylistRow,
  playlistRow,
  screenRow,
  tokenRow,
  venueRow,
} from '../../store/sample-rows.ts';

/** Rows by `<table> <id>`. */
export type RowMap = Map<string, { id: string }>;

type Op = { [T in TableName]: { put: T; row: Rows[T] } | { del: T; id: string } }[TableName];

const screens = 2;
const keptVersions = 3;
const count = guid('venu', 2);

/** Changes from this number on are larger than a journal segment. */
export const firstLarge = 800_001;
const largeItems = `["${'x'.repeat(17 * 1024 * 1024)}"]`;

/** Changes from this number on have many audit entries, like a publication on many screens. */
export const firstBulk = 700_001;
const bulkEntries = 190;

/** Returns the number of audit entries of change `number`. */
export function entriesOf(number: number): number {
  return number >= firstBulk && number < firstLarge ? bulkEntries : 1;
}

/** All rows that the changes write. */
export const universe: readonly (readonly [TableName, string])[] = [
  ['venues', guid('venu', 1)],
  ['venues', count],
  ['venues', guid('venu', 3)],
  ['tokens', guid('toke', 1)],
  ...[0, 1].flatMap((screen): (readonly [TableName, string])[] => [
    ['screens', guid('scre', screen)],
    ['devices', guid('devi', screen)],
    ['deviceKeys', guid('keys', screen)],
    ['codes', `code-000${screen}`],
    ['contents', `content-${screen}`],
    ['pastContents', `content-${screen}`],
    ['playlists', guid('scre', screen)],
    ['configs', `screen/${guid('scre', screen)}`],
  ]),
];

/**
 * Returns the operations of change `number`. It replaces rows, counts, pairs or revokes, and
 * publishes. It must be atomic.
 */
function opsOf(number: number, counted: number): Op[] {
  const screen = number % screens;
  const screenId = guid('scre', screen);
  const version = Math.floor(number / screens) + 1;
  const isPaired = number % 3 !== 0;
  const isLarge = number >= firstLarge && number < firstLarge + 10;
  const ops: Op[] = [
    { put: 'venues', row: venueRow(1, { name: `Change ${number}` }) },
    { put: 'venues', row: venueRow(2, { address: String(counted + 1) }) },
    {
      put: 'screens',
      row: screenRow(screen, {
        labels: { change: String(number) },
        state: isPaired ? 'active' : 'provisioning',
      }),
    },
    {
      put: 'contents',
      row: contentRow(screen, {
        tenantId: String(number),
        ...(isLarge && { items: largeItems }),
      }),
    },
    isPaired
      ? { put: 'pastContents', row: pastContentRow(screen, number) }
      : { del: 'pastContents', id: `content-${screen}` },
    { put: 'playlists', row: playlistRow(screen, version + 1) },
    { put: 'pastPlaylists', row: pastPlaylistRow(screen, version) },
    { del: 'pastPlaylists', id: `${screenId}/${version - keptVersions}` },
    isPaired
      ? { put: 'deviceKeys', row: deviceKeyRow(screen, { hash: `key ${number}` }) }
      : { del: 'deviceKeys', id: guid('keys', screen) },
    isPaired
      ? { put: 'devices', row: deviceRow(screen) }
      : { del: 'devices', id: guid('devi', screen) },
    { put: 'codes', row: codeRow(screen, { state: isPaired ? 'used' : 'pending' }) },
  ];
  if (number % 4 === 0)
    ops.push({
      put: 'configs',
      row: configRow('screen', screenId, { syncIntervalMinutes: number }),
    });
  if (number % 5 === 0)
    ops.push({ put: 'tokens', row: tokenRow(1, { name: `Token of change ${number}` }) });
  return ops;
}

const countedIn = (row: { address?: string | null } | undefined) => Number(row?.address ?? 0);

async function stage(tx: Tx, number: number, at: number): Promise<void> {
  for (const op of opsOf(number, countedIn(await tx.get('venues', count)))) {
    if ('put' in op) await tx.put(op.put, op.row);
    else await tx.delete(op.del, op.id);
  }
  // The last six digits of an id are the number of the change.
  for (let entry = 0; entry < entriesOf(number); entry++)
    await tx.audit(auditRow(number, { id: guid('audi', entry * 1_000_000 + number), at }));
}

/** Makes change `number` in a store. */
export function makeChange(store: Store, number: number, at: number): Promise<void> {
  return store.write((tx) => stage(tx, number, at));
}

/** Makes the same change and throws at its end. It must leave no trace. */
export function giveUpChange(store: Store, number: number, at: number): Promise<void> {
  return store.write(async (tx) => {
    await stage(tx, number, at);
    throw new Error('given up');
  });
}

/** Makes the same change until a name is taken. It must leave no trace. */
export function makeConflictingChange(store: Store, number: number, at: number): Promise<void> {
  return store.write(async (tx) => {
    await stage(tx, number, at);
    await tx.put('venues', venueRow(3, { name: `Change ${number}` }));
  });
}

/** Applies change `number` to a map. */
export function changeRows(rows: RowMap, number: number): void {
  const row = rows.get(`venues ${count}`) as { address?: string } | undefined;
  for (const op of opsOf(number, countedIn(row))) {
    if ('put' in op) rows.set(`${op.put} ${op.row.id}`, op.row);
    else rows.delete(`${op.del} ${op.id}`);
  }
}

/** Returns batch `number` with one to three events of one of two devices. */
export function batchNumber(number: number, sent?: string): EventBatch {
  const events = Array.from({ length: 1 + (number % 3) }, (_, n) =>
    impression(1_760_000_000_000, {
      number,
      n,
      creativeId: guid('crea', number % 2),
      ...(n === 0 && { seq: number + 1 }),
    }),
  );
  const keyed = number % 4 === 3 ? {} : { key: `key ${number}` };
  return batchOf(events, {
    deviceId: deviceOf(number),
    ...keyed,
    ...(sent !== undefined && { sent }),
  });
}

/** The devices that send batches. */
export const sendingDevices = [guid('devi', 4), guid('devi', 5)];
const deviceOf = (number: number) => sendingDevices[number % 2] as string;

/** Returns what the sequence numbers of the sending devices tell after these batches. */
export function numberedAfter(batches: readonly number[]): string {
  return JSON.stringify(
    sendingDevices.map((deviceId) => {
      const own = batches.filter((number) => deviceOf(number) === deviceId);
      const lastSeq = Math.max(...own) + 1;
      return own.length === 0 ? [] : [lastSeq, lastSeq - own.length, 0];
    }),
  );
}

/** Returns the number of events of a batch and their creative. */
export function countsOf(number: number): { creativeId: string; events: number } {
  return { creativeId: guid('crea', number % 2), events: 1 + (number % 3) };
}

export const isKeyed = (number: number) => number % 4 !== 3;
export { tenantA };
