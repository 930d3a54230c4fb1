import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import type { StatementLog } from '../../domain/statements/rows.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';
import { restoredReason } from '../../domain/webhooks/webhook.ts';
import type { MediaReader } from '../store.ts';
import type { DumpEnd, DumpHead, DumpSource, SectionCounts } from './dump.ts';
import { type FileDumpRecord, type FileTarget, fileContent } from './dump-files.ts';
import { DumpError, type DumpRecord, readDump } from './read-dump.ts';
import type { DumpSection, Records, SectionName } from './records.ts';
import { writeDump } from './write-dump.ts';

/** Maximum number of records, and of lengths of their texts, that are written together. */
const groupRecords = 2000;
const groupLength = 4 * 1024 * 1024;

/** An empty store that a dump is restored into. Until `commit`, no service can start on it. */
export interface DumpTarget {
  begin(server: Records['server']): Promise<void>;
  /** Writes records. Sections come in the order of a dump. */
  accept<S extends SectionName>(section: S, records: readonly Records[S][]): Promise<void>;
  /** Completes the store. Returns its state, as it was written. */
  finish(): Promise<DumpSource>;
  /**
   * Allows services to start. `backup` is given if they start from a backup, which lacks later
   * changes.
   */
  commit(backup?: DumpHead): Promise<void>;
  /** Removes everything that was written. */
  undo(): Promise<void>;
  /** Releases the store. */
  close(): Promise<void>;
}

export interface RestoreOptions {
  /** Name of the dump in messages, such as its path. */
  name?: string | undefined;
  /** Receives the number of records restored so far. */
  onProgress?: ((records: number) => void) | undefined;
  /** Whether the dump is a backup: the first start then warns that later changes are lost. */
  isBackup?: boolean;
  /** Whether the dump is all of a store: then its statements go on. Default: they are paused. */
  isWhole?: boolean;
  /** Stops with the error `interrupted`. */
  signal?: AbortSignal | undefined;
  /**
   * Called before the first active webhook: whether the active webhooks are restored as paused.
   * Default: they stay active.
   */
  pausesWebhooks?: (() => Promise<boolean>) | undefined;
  /** Where the bytes of media go. `undefined`: a dump with such bytes is refused. */
  files?: FileTarget;
}

export interface Restored extends DumpEnd {
  /** Time of the dump, as ISO 8601. */
  at: string;
  /** Names of the media files whose bytes the dump does not have. */
  missingFiles: string[];
  /** Number of active webhooks that were restored as paused. */
  pausedWebhooks: number;
}

/**
 * Restores a dump into an empty store, dumps the store again and compares the two. On any error,
 * removes everything. Throws `backup_unusable` for a stream that is damaged, truncated or no dump,
 * and `copy_differs` if the store does not hold what the dump holds.
 */
export async function restoreDump(
  source: AsyncIterable<Uint8Array>,
  target: DumpTarget,
  options: RestoreOptions = {},
): Promise<Restored> {
  try {
    const { head, end, fileIds, missingFiles, paused } = await restoreAll(source, target, options);
    const { files, signal } = options;
    const reader = end.counts.files && files ? only(files, fileIds) : undefined;
    const restored = asDumped(await target.finish(), paused);
    const written = await dumpEnd(restored, head, signal, reader);
    if (written.sha256 !== end.sha256) throw differs(end.counts, written.counts);
    await target.commit(options.isBackup ? head : undefined);
    const pausedWebhooks = paused.filter(({ section }) => section === 'webhooks').length;
    return { at: head.at, missingFiles, pausedWebhooks, ...end };
  } catch (error) {
    await options.files?.undo();
    await target.undo();
    if (!(error instanceof DumpError)) throw error;
    const message = `${options.name ?? 'The backup'} cannot be used as a backup: ${error.message}. Nothing was restored. Copy it again from where it was made, or use another backup.`;
    throw new SignageError('backup_unusable', message, { cause: error });
  } finally {
    await options.files?.close();
    await target.close();
  }
}

/** A row of the dump, and as it is restored. */
interface PausedRow {
  section: 'webhooks' | 'statementLogs';
  before: Webhook | StatementLog;
  after: Webhook | StatementLog;
}

function pausedWebhook(row: Webhook, { at }: DumpHead): Webhook {
  const updatedAt = Math.max(row.updatedAt, Date.parse(at));
  return { ...row, state: 'paused', stateReason: restoredReason, updatedAt };
}

/** Reads a restored store as if nothing had been paused, to compare it with the dump. */
function asDumped(source: DumpSource, paused: readonly PausedRow[]): DumpSource {
  const byId = new Map(paused.map((one) => [one.before.id, one]));
  async function* read(section: SectionName) {
    for await (const row of source.read(section)) {
      const one = 'id' in row ? byId.get(row.id) : undefined;
      yield one?.section === section && isDeepStrictEqual(row, one.after) ? one.before : row;
    }
  }
  return { read: read as DumpSource['read'] };
}

/** Reads only these files: the media folder may have others that the dump does not have. */
function only(files: MediaReader, ids: ReadonlySet<string>): MediaReader {
  return { open: async (id) => (ids.has(id) ? files.open(id) : undefined) };
}

async function restoreAll(
  source: AsyncIterable<Uint8Array>,
  target: DumpTarget,
  { onProgress, signal, files, pausesWebhooks, isWhole }: RestoreOptions,
) {
  /** Records of media files without bytes so far, by the id of the file. */
  const missing = new Map<string, Records['media']>();
  const fileIds = new Set<string>();
  const paused: PausedRow[] = [];
  let isPausing: boolean | undefined;
  let head: DumpHead | undefined;
  let end: DumpEnd | undefined;
  let group: DumpRecord[] = [];
  let length = 0;
  let done = 0;
  const flush = async () => {
    const [first] = group;
    if (!first) return;
    await acceptGroup(target, group);
    done += group.length;
    group = [];
    length = 0;
    onProgress?.(done);
    refuseInterrupted(signal);
  };
  const pauseIfAsked = async (before: Webhook): Promise<Webhook> => {
    if (before.state !== 'active') return before;
    isPausing ??= (await pausesWebhooks?.()) ?? false;
    if (!isPausing) return before;
    const after = pausedWebhook(before, head as DumpHead);
    paused.push({ section: 'webhooks', before, after });
    return after;
  };
  const pauseLog = (before: StatementLog): StatementLog => {
    if (isWhole || before.isPaused) return before;
    const after = { ...before, isPaused: true };
    paused.push({ section: 'statementLogs', before, after });
    return after;
  };
  const records = readDump(source);
  const restoreFile = async (first: FileDumpRecord) => {
    const { id, size } = first.record;
    const row = missing.get(id);
    if (!row) throw new DumpError(first.line, `no record names the media file ${id}`);
    if (row.bytes !== size)
      throw new DumpError(
        first.line,
        `the media file ${id} has ${size} bytes, but its record ${row.bytes}`,
      );
    missing.delete(id);
    if (!files) throw new DumpError(first.line, 'it has the bytes of media files');
    await files.put(id, size, fileContent(first, records));
    fileIds.add(id);
    refuseInterrupted(signal);
  };
  for await (const one of records) {
    if ('head' in one) head = one.head;
    else if ('end' in one) end = one.end;
    else if (one.section === 'files') await restoreFile(one as FileDumpRecord);
    else {
      if (one.section === 'media') {
        const row = one.record as Records['media'];
        missing.set(row.fileId, row);
      }
      if (one.section === 'webhooks') one.record = await pauseIfAsked(one.record as Webhook);
      if (one.section === 'statementLogs') one.record = pauseLog(one.record as StatementLog);
      if (group[0] && group[0].section !== one.section) await flush();
      group.push(one);
      length += largePart(one.record);
      if (group.length >= groupRecords || length >= groupLength) await flush();
    }
  }
  await flush();
  const missingFiles = [...missing.values()].map(({ name }) => name);
  return { head: head as DumpHead, end: end as DumpEnd, fileIds, missingFiles, paused };
}

async function acceptGroup(target: DumpTarget, group: readonly DumpRecord[]): Promise<void> {
  const [first, last] = [group[0] as DumpRecord, group.at(-1) as DumpRecord];
  const records = group.map(({ record }) => record) as Records['batches'][];
  try {
    if (first.section === 'server') await target.begin(first.record as Records['server']);
    else await target.accept(first.section as 'batches', records);
  } catch (error) {
    if (!(error instanceof SignageError) || error.code !== 'conflict') throw error;
    const { existingId } = error;
    throw new DumpError(
      first.line,
      `one of the records up to line ${last.line} repeats a unique key (of ${existingId})`,
    );
  }
}

/** Returns the length of the large member of a record. */
function largePart(record: object): number {
  const { body, items } = record as { body?: unknown; items?: unknown };
  const text = body ?? items;
  return typeof text === 'string' ? text.length : 0;
}

function refuseInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new SignageError('interrupted', 'It was interrupted. Nothing was written.');
}

/** Reads a whole state. Returns the end of its dump, with the head of another one. */
export async function dumpEnd(
  source: DumpSource,
  { at, format }: Pick<DumpHead, 'at' | 'format'>,
  signal?: AbortSignal,
  files?: MediaReader,
): Promise<DumpEnd> {
  const dump = writeDump(source, at, files, format);
  for (;;) {
    const next = await dump.next();
    if (next.done) return next.value;
    refuseInterrupted(signal);
  }
}

function differs(dumped: SectionCounts, written: SectionCounts): SignageError {
  const names = Object.keys({ ...dumped, ...written }) as DumpSection[];
  const where = names
    .filter((name) => dumped[name] !== written[name])
    .map((name) => `${name}: ${dumped[name] ?? 0} records dumped, ${written[name] ?? 0} written`);
  const message = `The new store differs from the dump (${where.join('; ') || 'the counts are equal'}). Nothing was kept.`;
  return new SignageError('copy_differs', message);
}
