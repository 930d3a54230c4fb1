import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../domain/clock.ts';
import type { Rows, TableName } from '../../../domain/records/rows.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import { newProgress } from '../../copy/copy-progress.ts';
import type {
  CopiedActivity,
  CopiedBatch,
  CopiedImpressions,
  DeviceKeys,
  Records,
  Section,
  StoreSource,
  StoreTarget,
} from '../../copy/transfer.ts';
import { auditFormat } from '../audit/entry-record.ts';
import { nodeFileSystem } from '../disk/file-system.ts';
import { eventFormat } from '../events/event-record.ts';
import type { JsonStore } from '../json-store.ts';
import { lockFolder } from '../lock/folder-lock.ts';
import { readManifest } from '../manifest.ts';
import { openJsonStore } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { makeSecret } from '../secret.ts';
import { BulkIdempotencyKeys, BulkRollups, type DocumentFolder } from './bulk-documents.ts';
import { auditLines, BulkLog, batchLine } from './bulk-log.ts';
import {
  type FolderProgress,
  findUnfinishedCopy,
  removeMarker,
  writeMarker,
} from './copy-marker.ts';
import { folderSource } from './folder-source.ts';

const lowWaterBytes = 16 * 1024 * 1024;

/**
 * Opens a folder as the target of a copy, and creates it if missing. It stays locked until `close`.
 * Throws `store_locked`.
 */
export async function openFolderTarget(directory: string, clock: Clock): Promise<StoreTarget> {
  const disk = nodeFileSystem;
  await disk.makeDirectory(directory);
  const release = await lockFolder(directory, {
    clock,
    random: randomBytes,
    platform: process.platform,
  });
  return folderTarget({ disk, directory, clock, lowWaterBytes, warn: () => {} }, release);
}

/** Opens a folder on any disk. The caller holds the lock. */
export function folderTarget(context: PartContext, release: () => Promise<void>): StoreTarget {
  return new FolderTarget(context, release);
}

/**
 * A data folder during a copy. Logs, idempotency keys and roll-ups are written as files, then the
 * manifest that names them. Rows and activity are written through a store opened on these files.
 * `copy.json` records the progress. Until it is deleted, no service can open the folder.
 */
class FolderTarget implements StoreTarget {
  readonly #context: PartContext;
  readonly #release: () => Promise<void>;
  #progress: FolderProgress | undefined;
  #logs: { events: BulkLog; audit: BulkLog } | undefined;
  #idempotencyKeys: BulkIdempotencyKeys | undefined;
  #rollups: BulkRollups | undefined;
  #store: JsonStore | undefined;

  constructor(context: PartContext, release: () => Promise<void>) {
    this.#context = context;
    this.#release = release;
  }

  async begin(source: StoreSource): Promise<boolean> {
    const { disk, directory } = this.#context;
    const unfinished = await findUnfinishedCopy(disk, directory, source);
    const nothing = { file: null, size: 0 };
    this.#progress = unfinished ?? {
      ...newProgress(source),
      logs: { events: nothing, audit: nothing },
      documents: {},
    };
    if (!unfinished) await this.#saveProgress();
    await makeSecret(this.#context, () => source.secret);
    await disk.makeDirectory(`${directory}/documents`);
    const folder: DocumentFolder = {
      disk,
      directory: `${directory}/documents`,
      seq: this.#currentProgress.logEnd.seq,
    };
    this.#idempotencyKeys = new BulkIdempotencyKeys(folder);
    this.#rollups = new BulkRollups(folder);
    if (await this.#hasManifest()) return unfinished !== undefined;
    const { events, audit } = this.#currentProgress.logs;
    this.#logs = {
      events: await BulkLog.open(this.#context, eventFormat, events),
      audit: await BulkLog.open(this.#context, auditFormat, audit),
    };
    return unfinished !== undefined;
  }

  done(section: Section): number {
    return this.#currentProgress.done[section] ?? 0;
  }

  isComplete(section: Section): boolean {
    return this.#currentProgress.complete.includes(section);
  }

  async accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void> {
    if (section === 'idempotency')
      for (const keys of records as readonly DeviceKeys[]) this.#idempotencyKeys?.add(keys);
    else if (section === 'impressions')
      for (const one of records as readonly CopiedImpressions[]) await this.#rollups?.add(one);
    else if (section === 'marks') await this.#touch(records as readonly CopiedActivity[]);
    else {
      await this.#append(section, records as readonly unknown[]);
      this.#currentProgress.done[section] = this.done(section) + records.length;
      await this.#saveProgress();
    }
  }

  async #append(section: Section, records: readonly unknown[]): Promise<void> {
    if (section === 'batches')
      await this.#logs?.events.append((records as readonly CopiedBatch[]).map(batchLine));
    else if (section === 'audit')
      await this.#logs?.audit.append(
        auditLines(
          records as readonly SealedEntry[],
          this.done('audit'),
          this.#currentProgress.logs.audit,
        ),
      );
    else await this.#put(section as TableName, records as readonly Rows[TableName][]);
    if (this.#logs)
      this.#currentProgress.logs = { events: this.#logs.events.end, audit: this.#logs.audit.end };
  }

  async #put(table: TableName, rows: readonly Rows[TableName][]): Promise<void> {
    const store = await this.#openStore();
    await store.write(async (tx) => {
      for (const row of rows) await tx.put(table, row);
    });
  }

  async #touch(records: readonly CopiedActivity[]): Promise<void> {
    const store = await this.#openStore();
    for (const { kind, id, marks } of records) {
      if (kind === 'device') store.touch(kind, id, marks);
      else store.touch(kind, id, marks);
    }
  }

  async complete(section: Section): Promise<void> {
    if (section === 'idempotency')
      Object.assign(this.#currentProgress.documents, await this.#idempotencyKeys?.write());
    if (section === 'impressions')
      Object.assign(this.#currentProgress.documents, await this.#rollups?.write());
    // Activity is durable only after the store is closed.
    if (section === 'marks') return;
    this.#currentProgress.complete.push(section);
    await this.#saveProgress();
  }

  async finish(): Promise<void> {
    const store = await this.#openStore();
    this.#store = undefined;
    await store.close();
  }

  async copied(): Promise<StoreSource> {
    return folderSource(this.#context, async () => {});
  }

  async release(): Promise<void> {
    await removeMarker(this.#context.disk, this.#context.directory);
  }

  async close(): Promise<void> {
    try {
      await this.#logs?.events.close();
      await this.#logs?.audit.close();
      await this.#store?.close();
    } finally {
      await this.#release();
    }
  }

  get #currentProgress(): FolderProgress {
    if (!this.#progress) throw new Error('the copy has not started');
    return this.#progress;
  }

  async #saveProgress(): Promise<void> {
    await writeMarker(this.#context.disk, this.#context.directory, this.#currentProgress);
  }

  async #hasManifest(): Promise<boolean> {
    return (await readManifest(this.#context.disk, this.#context.directory)).data.epoch > 0;
  }

  /** Opens a store on the files written so far. */
  async #openStore(): Promise<JsonStore> {
    if (this.#store) return this.#store;
    await this.#logs?.events.close();
    await this.#logs?.audit.close();
    this.#logs = undefined;
    if (!(await this.#hasManifest())) await this.#writeManifest();
    this.#store = await openJsonStore(this.#context, randomBytes, async () => {});
    return this.#store;
  }

  async #writeManifest(): Promise<void> {
    const { disk, directory } = this.#context;
    const { logs, logEnd, chain, documents } = this.#currentProgress;
    const entries = this.done('audit');
    const marks = {
      events: { ...logs.events, ...logEnd },
      audit: { ...logs.audit, seq: entries },
      journal: { file: null, size: 0, seq: entries, at: 0 },
      ...(chain && { chain }),
    };
    await disk.syncDirectory(`${directory}/documents`);
    const manifest = await readManifest(disk, directory);
    manifest.data = { ...manifest.data, epoch: 1, documents, marks };
    await manifest.write();
  }
}
