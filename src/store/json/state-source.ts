import type { ReportGroup } from '../../domain/records/report.ts';
import type { DumpSource } from '../dump/dump.ts';
import { maxSeconds, type Records, type SectionName } from '../dump/records.ts';
import { sectionOf, type TableName, tableNames } from '../sections.ts';
import type { LastActivityTable } from './activity/last-activity.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { TrailChain } from './audit/trail-chain.ts';
import type { EventLog } from './events/event-log.ts';
import { keyEntries } from './events/idempotency-keys.ts';
import type { DurableState } from './journal-replay.ts';
import { damageError } from './log/damage.ts';
import type { LogFilesPosition } from './log/day-files.ts';
import { batchOf } from './log/event-record.ts';
import type { FramedLog, LogRange } from './log/framed-log.ts';
import { readLog } from './log/log-records.ts';
import type { PlayDocuments } from './rollups/play-documents.ts';
import { playRecords } from './rollups/play-lines.ts';

/** The parts of a store that hold its state. */
interface StateParts {
  events: EventLog;
  audit: AuditTrail;
  chain: TrailChain;
  lastActivity: LastActivityTable;
  state: DurableState;
}
export type Readers = {
  [S in SectionName]: () => Iterable<Records[S]> | AsyncIterable<Records[S]>;
};

/**
 * Takes one state of a store, to be dumped later. Rows in memory do not change: the state refers to
 * them. Files must not be deleted until the dump is complete.
 */
export function stateSource(
  { events, audit, chain, lastActivity, state }: StateParts,
  secret: Uint8Array,
): DumpSource {
  const { seq, receivedAt } = events.log.end;
  const { head, start, gaps } = chain.state;
  const server: Records['server'] = {
    secret: Buffer.from(secret).toString('hex'),
    log: { seq, receivedAt },
    chain: { head: head && head.seq > 0 ? head : undefined, start, gaps },
  };
  const batches = readable(events.log);
  const entries = audit.snapshot(start?.day);
  const rows = tableNames.map((table) => [
    table,
    sectionOf(table).held === 'disk' ? state.disk.snapshot(table) : state.base.snapshot(table),
  ]);
  const readers: Readers = {
    server: () => [server],
    batches: () => batchesIn(events.log, batches),
    audit: entries,
    ...(Object.fromEntries(rows) as { [T in TableName]: Readers[T] }),
    ...documentReaders(events.owners, lastActivity),
  };
  return { read: (section) => readers[section]() };
}

/** Sections whose records are lines of documents. */
type DocumentSection = 'idempotency' | 'impressions' | 'plays' | 'sequences' | 'marks';

/** Takes the state of the documents that hold no rows. */
export function documentReaders(
  [idempotencyKeys, rollups, plays, sequences]: EventLog['owners'],
  lastActivity: LastActivityTable,
): Pick<Readers, DocumentSection> {
  return {
    idempotency: parsed(idempotencyKeys.snapshot(), lineParsers.rings),
    impressions: impressionsIn(rollups.snapshot()),
    plays: playsIn(plays.snapshot()),
    sequences: parsed(sequences.snapshot(), lineParsers.sequences),
    marks: marksOf([lastActivity.snapshot('device'), lastActivity.snapshot('token')]),
  };
}

/** Parses a line of a document, by the kind of the document. */
export const lineParsers = {
  rings(line: string): Records['idempotency'] {
    const [deviceId, encoded] = JSON.parse(line) as [string, string];
    return {
      deviceId,
      keys: keyEntries(encoded).map((entry): [string, string] => [
        entry.slice(0, 16),
        entry.slice(16),
      ]),
    };
  },
  /** `["1-campaign","<scope>","<day>","<key>",<impressions>,<seconds>]` */
  rollups(line: string, clock: Records['impressions']['clock']): Records['impressions'] {
    const [section, scope, day, key, impressions, seconds] = JSON.parse(line);
    const group = section.slice(2) as ReportGroup;
    return { clock, day, group, scope, key, impressions, seconds: Math.min(seconds, maxSeconds) };
  },
  sequences(line: string): Records['sequences'] {
    const [deviceId, numbers] = JSON.parse(line);
    return { deviceId, ...numbers };
  },
  marks: (line: string): Records['marks'] => JSON.parse(line),
};

function parsed<L, R>(lines: () => AsyncIterable<L>, parse: (line: L) => R) {
  return async function* (): AsyncGenerator<R> {
    for await (const line of lines()) yield parse(line);
  };
}

type Documents = ReturnType<PlayDocuments['snapshot']>;

function impressionsIn(documents: Documents) {
  return async function* (): AsyncGenerator<Records['impressions']> {
    for (const { clock, lines } of documents())
      for await (const line of lines) yield lineParsers.rollups(line, clock);
  };
}

function playsIn(documents: Documents) {
  return async function* (): AsyncGenerator<Records['plays']> {
    for (const { clock, lines } of documents()) yield* playRecords(lines, clock);
  };
}

function marksOf(kinds: readonly (() => AsyncIterable<string>)[]) {
  return async function* (): AsyncGenerator<Records['marks']> {
    for (const lines of kinds) {
      for await (const line of lines()) {
        const mark = lineParsers.marks(line);
        if (Object.keys(mark).length > 2) yield mark;
      }
    }
  };
}

/** Returns the files that retention has kept, up to the last durable record. */
function readable({ names, end }: FramedLog<unknown, LogFilesPosition>): LogRange {
  const { file } = end;
  return { names: names.filter((name) => file !== null && name <= file), end };
}

async function* batchesIn(
  log: FramedLog<unknown, LogFilesPosition>,
  { names, end }: LogRange,
): AsyncGenerator<Records['batches']> {
  const { disk, directory } = log;
  for await (const { file, offset, head: batch } of readLog(
    { disk, directory, names },
    batchOf,
    end,
  )) {
    if (!batch) throw damageError(log.path(file), 'a record is damaged', offset);
    yield batch;
  }
}
