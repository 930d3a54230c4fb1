import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../domain/clock.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import { newProgress } from '../../copy/copy-progress.ts';
import type {
  CopiedActivity,
  CopiedBatch,
  CopiedImpressions,
  CopiedSequence,
  DeviceKeys,
  Records,
  Section,
  StoreSource,
  StoreTarget,
} from '../../copy/transfer.ts';
import { contextOf, lockDataFolder } from '../../maintenance/data-folder.ts';
import type { Rows, TableName } from '../../sections.ts';
import { auditFormat } from '../audit/entry-record.ts';
import { writeDocument } from '../checkpoint/document-file.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import { eventFormat } from '../events/event-record.ts';
import { IdempotencyKeys } from '../events/idempotency-keys.ts';
import { Sequences } from '../events/sequences.ts';
import type { JsonStore } from '../json-store.ts';
import { BulkLog } from '../log/bulk-log.ts';
import { readManifest } from '../manifest.ts';
import { openJsonStore } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { Rollups, rollupDocument } from '../rollups/rollups.ts';
import { makeSecret } from '../secret.ts';
import {
  type FolderProgress,
  findUnfinishedCopy,
  removeMarker,
  writeMarker,
} from './folder-progress.ts';
import { folderSource } from './folder-source.ts';
import { appendBatches, appendEntries } from './log-lines.ts';

const lowWaterBytes = 16 * 1024 * 1024;

/**
 * Opens a folder as the target of a copy, and creates it if missing. It stays locked until `close`.
 * Throws `store_locked` and `store_unusable`.
 */
export async function openFolderTarget(directory: string, clock: Clock): Promise<StoreTarget> {
  const context = { ...contextOf(directory, clock), lowWaterBytes };
  await context.disk.makeDirectory(directory);
  return new FolderTarget(context, await lockDataFolder(directory));
}

/**
 * A data folder during a copy. Writes the logs, and the documents made from them, as files, then
 * the manifest. Writes rows and activity through a store opened on these files. `copy.json` records
 * the progress. Until it is deleted, no service can open the folder.
 */
export class FolderTarget implements StoreTarget {
  readonly #context: PartContext;
  readonly #release: () => Promise<void>;
  #progress: FolderProgress | undefined;
  #logs: { events: BulkLog; audit: BulkLog } | undefined;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #rollups: Rollups;
  readonly #sequences: Sequences;
  /** Name of the document that got the last impressions. */
  #latestRollup = '';
  #store: JsonStore | undefined;

  /** The caller holds the folder's lock. `release` frees it. */
  constructor(context: PartContext, release: () => Promise<void>) {
    this.#context = context;
    this.#release = release;
    const eventProgress = { seq: () => this.progress().logEnd.seq, due: () => true };
    this.#idempotencyKeys = new IdempotencyKeys(eventProgress);
    this.#rollups = new Rollups(eventProgress);
    this.#sequences = new Sequences(eventProgress);
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
    if (await this.#hasManifest()) return unfinished !== undefined;
    const { events, audit } = this.progress().logs;
    this.#logs = {
      events: await BulkLog.open(this.#context, eventFormat, events),
      audit: await BulkLog.open(this.#context, auditFormat, audit),
    };
    return unfinished !== undefined;
  }

  progress(): FolderProgress {
    if (!this.#progress) throw new Error('the copy has not begun');
    return this.#progress;
  }

  async accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void> {
    if (section === 'idempotency')
      for (const keys of records as readonly DeviceKeys[]) this.#addKeys(keys);
    else if (section === 'impressions')
      for (const one of records as readonly CopiedImpressions[]) await this.#addImpressions(one);
    else if (section === 'sequences')
      for (const { deviceId, state } of records as readonly CopiedSequence[])
        this.#sequences.set(deviceId, state);
    else if (section === 'marks') await this.#touch(records as readonly CopiedActivity[]);
    else {
      const { done, logs } = this.progress();
      const before = done[section] ?? 0;
      await this.#append(section, records, before);
      if (this.#logs) {
        logs.events = this.#logs.events.end;
        logs.audit = this.#logs.audit.end;
      }
      done[section] = before + records.length;
      await this.#saveProgress();
    }
  }

  #addKeys({ deviceId, keys }: DeviceKeys): void {
    for (const [key, sent] of keys)
      this.#idempotencyKeys.apply({ seq: 1, deviceId, recordedKey: { key, sent } });
  }

  /**
   * Adds one counter. Impressions arrive day by day. After each day, its document is written and
   * its counts are released. Only the document `other` stays in memory, because several days share
   * it.
   */
  async #addImpressions(one: CopiedImpressions): Promise<void> {
    const name = rollupDocument(one.clock, one.day);
    if (name !== this.#latestRollup)
      await this.#writeDocuments(this.#rollups, (written) => !written.endsWith('-other'));
    this.#latestRollup = name;
    this.#rollups.addCell(one);
  }

  /** Writes the first version of the changed documents. */
  async #writeDocuments(owner: DocumentOwner, isChosen = (_name: string) => true): Promise<void> {
    const { disk, directory } = this.#context;
    const { documents } = this.progress();
    for (const name of owner.dirty().filter(isChosen)) {
      const rendered = await owner.render(name, undefined);
      if (!rendered) continue;
      const file = `${name}.0.json`;
      documents[name] = await writeDocument(disk, `${directory}/documents`, file, rendered);
      owner.written?.(name, undefined);
    }
  }

  async #append(section: Section, records: readonly unknown[], before: number): Promise<void> {
    if (section === 'batches') {
      if (this.#logs) await appendBatches(this.#logs.events, records as readonly CopiedBatch[]);
    } else if (section === 'audit') {
      if (this.#logs)
        await appendEntries(this.#logs.audit, records as readonly SealedEntry[], before);
    } else await this.#put(section as TableName, records as readonly Rows[TableName][]);
  }

  async #put(table: TableName, rows: readonly Rows[TableName][]): Promise<void> {
    const store = await this.#openStore();
    await store.write(async (tx) => {
      for (const row of rows) await tx.put(table, row);
    });
  }

  async #touch(records: readonly CopiedActivity[]): Promise<void> {
    const store = await this.#openStore();
    for (const { kind, id, marks } of records) store.touch(kind, id, marks);
  }

  async complete(section: Section): Promise<void> {
    if (section === 'idempotency') await this.#writeDocuments(this.#idempotencyKeys);
    if (section === 'impressions') await this.#writeDocuments(this.#rollups);
    if (section === 'sequences') await this.#writeDocuments(this.#sequences);
    // Activity is durable only after the store is closed.
    if (section === 'marks') return;
    this.progress().complete.push(section);
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

  async #saveProgress(): Promise<void> {
    await writeMarker(this.#context.disk, this.#context.directory, this.progress());
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
    const { logs, logEnd, chain, documents } = this.progress();
    const entries = this.progress().done.audit ?? 0;
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
