import { randomBytes } from 'node:crypto';
import type { DumpHead, DumpSource } from '../../dump/dump.ts';
import type { Records, SectionName } from '../../dump/records.ts';
import type { DumpTarget } from '../../dump/restore-dump.ts';
import type { TableName } from '../../sections.ts';
import { auditFormat, frameEntry } from '../audit/entry-record.ts';
import { writeDocument } from '../checkpoint/document-file.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import {
  type ManifestData,
  readManifest,
  restoreMarker,
  storeFolders,
} from '../checkpoint/manifest.ts';
import { writeFully } from '../disk/file-system.ts';
import type { PartContext } from '../disk/parts.ts';
import { writeNewFile } from '../disk/replace-file.ts';
import { IdempotencyKeys } from '../events/idempotency-keys.ts';
import { Sequences } from '../events/sequences.ts';
import type { JsonStore } from '../json-store.ts';
import { BulkLog } from '../log/bulk-log.ts';
import { dayFile } from '../log/day-files.ts';
import { eventFormat, frameRecord } from '../log/event-record.ts';
import { openJsonStore } from '../open.ts';
import { isOwnFile } from '../own-files.ts';
import { PlayDocuments, playDocument } from '../rollups/play-documents.ts';
import { Rollups, rollupDocument } from '../rollups/rollups.ts';
import { makeSecret } from '../secret.ts';
import { readFolder } from './folder-state.ts';

const markerText =
  'A restore into this folder was not finished. Empty the folder, then run the same command again.\n';

/**
 * An empty folder that a dump is restored into. Writes the logs, and the documents made from them,
 * as files. Then opens a store on these files, which writes the rows and activity. A marker
 * prevents services from starting until `commit`.
 */
export class FolderTarget implements DumpTarget {
  readonly #context: PartContext;
  readonly #release: () => Promise<void>;
  #server: Records['server'] | undefined;
  #logs: { events: BulkLog; audit: BulkLog } | undefined;
  #entries = 0;
  /** File of the last entry. No entry goes to an older file. */
  #auditFile = '';
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #rollups: Rollups;
  readonly #plays: PlayDocuments;
  readonly #sequences: Sequences;
  readonly #documents: ManifestData['documents'] = {};
  /** Name of the document that got the last impressions. */
  #rollup = '';
  #store: JsonStore | undefined;

  /** The caller holds the lock of the folder. `release` frees it. */
  constructor(context: PartContext, release: () => Promise<void>) {
    this.#context = context;
    this.#release = release;
    const progress = { seq: () => this.#server?.log.seq ?? 0, due: () => true };
    this.#idempotencyKeys = new IdempotencyKeys(progress);
    this.#rollups = new Rollups(progress);
    this.#plays = new PlayDocuments(progress);
    this.#sequences = new Sequences(progress);
  }

  async begin(server: Records['server']): Promise<void> {
    const { disk, directory } = this.#context;
    this.#server = server;
    await writeNewFile(disk, `${directory}/${restoreMarker}`, (file) =>
      writeFully(file, Buffer.from(markerText)),
    );
    await disk.syncDirectory(directory);
    await makeSecret(this.#context, () => Buffer.from(server.secret, 'hex'));
    await disk.makeDirectory(`${directory}/documents`);
    this.#logs = {
      events: await BulkLog.open(this.#context, eventFormat),
      audit: await BulkLog.open(this.#context, auditFormat),
    };
  }

  async accept<S extends SectionName>(section: S, records: readonly Records[S][]): Promise<void> {
    const write = this.#writers[section as 'batches'] as unknown as
      | ((records: readonly Records[S][]) => Promise<void>)
      | undefined;
    if (write) return write(records);
    const store = await this.#openStore();
    await store.write(async (tx) => {
      for (const row of records) await tx.put(section as TableName, row as never);
    });
  }

  /** By section: how its records are written, unless they are rows. */
  readonly #writers = {
    batches: async (batches: readonly Records['batches'][]) => {
      for (const { body, ...batch } of batches)
        await this.#logs?.events.add(
          dayFile(batch.receivedAt),
          frameRecord(batch, Buffer.from(body)),
        );
    },
    idempotency: async (devices: readonly Records['idempotency'][]) => {
      for (const { deviceId, keys } of devices)
        for (const [key, sent] of keys)
          this.#idempotencyKeys.apply({ seq: 1, deviceId, recordedKey: { key, sent } });
    },
    impressions: async (cells: readonly Records['impressions'][]) => {
      for (const cell of cells) {
        const name = rollupDocument(cell.clock, cell.day);
        // The days come in order, so the counts of a day are complete when the next one begins.
        if (name !== this.#rollup) await this.#writeDocuments(this.#rollups);
        this.#rollup = name;
        this.#rollups.addCell(cell);
      }
    },
    plays: async (places: readonly Records['plays'][]) => {
      for (const place of places) {
        const name = playDocument(place.clock, place.day);
        if (name !== this.#rollup) await this.#writeDocuments(this.#plays);
        this.#rollup = name;
        this.#plays.addPlace(place);
      }
    },
    sequences: async (devices: readonly Records['sequences'][]) => {
      for (const { deviceId, ...state } of devices) this.#sequences.set(deviceId, state);
    },
    audit: async (entries: readonly Records['audit'][]) => {
      for (const sealed of entries) {
        const file = dayFile(sealed.entry.at);
        if (file > this.#auditFile) this.#auditFile = file;
        // Each entry is numbered as if it had its own journal record.
        const line = frameEntry({ seq: ++this.#entries, n: 0 }, sealed);
        await this.#logs?.audit.add(this.#auditFile, line);
      }
    },
    marks: async (marks: readonly Records['marks'][]) => {
      const store = await this.#openStore();
      for (const { kind, id, ...activity } of marks) store.touch(kind, id, activity);
    },
  };

  /** Writes the first version of the changed documents. */
  async #writeDocuments(owner: DocumentOwner): Promise<void> {
    const { disk, directory } = this.#context;
    for (const name of owner.dirty()) {
      const rendered = await owner.render(name, undefined);
      if (!rendered) continue;
      const file = `${name}.0.json`;
      this.#documents[name] = await writeDocument(disk, `${directory}/documents`, file, rendered);
      owner.written?.(name, undefined);
    }
  }

  /** Opens a store on the logs and their documents. */
  async #openStore(): Promise<JsonStore> {
    this.#store ??= await this.#beginStore();
    return this.#store;
  }

  async #beginStore(): Promise<JsonStore> {
    if (!this.#logs || !this.#server) throw new Error('the restore has not begun');
    const { disk, directory } = this.#context;
    const { log, chain } = this.#server;
    const { events, audit } = this.#logs;
    await events.close();
    await audit.close();
    for (const owner of [this.#idempotencyKeys, this.#rollups, this.#plays, this.#sequences])
      await this.#writeDocuments(owner);
    await disk.syncDirectory(`${directory}/documents`);
    const manifest = await readManifest(disk, directory);
    const marks = {
      events: { ...events.end, ...log },
      audit: { ...audit.end, seq: this.#entries },
      journal: { file: null, size: 0, seq: this.#entries, at: 0 },
      chain,
    };
    manifest.data = { ...manifest.data, epoch: 1, documents: this.#documents, marks };
    await manifest.write();
    return openJsonStore(this.#context, randomBytes, async () => {});
  }

  async finish(): Promise<DumpSource> {
    const store = await this.#openStore();
    await store.close();
    return readFolder(this.#context);
  }

  async commit(backup?: DumpHead): Promise<void> {
    const { disk, directory } = this.#context;
    if (backup) {
      const manifest = await readManifest(disk, directory);
      manifest.data = { ...manifest.data, backup: { at: Date.parse(backup.at) } };
      await manifest.write();
    }
    await disk.unlink(`${directory}/${restoreMarker}`);
    await disk.syncDirectory(directory);
  }

  /** Deletes all files. The marker is the last, since an incomplete store must not be opened. */
  async undo(): Promise<void> {
    const { disk, directory } = this.#context;
    await this.#closeAll();
    if (!this.#server) return;
    for (const folder of storeFolders)
      for (const name of await disk.list(`${directory}/${folder}`))
        if (isOwnFile(folder, name))
          await disk.unlink(`${directory}/${folder}/${name}`).catch(() => undefined);
    const own = /^(secret|manifest(\.copy)?\.json)(\.tmp)?$/;
    const names = (await disk.list(directory)).filter((name) => own.test(name));
    for (const name of [...names, restoreMarker])
      await disk.unlink(`${directory}/${name}`).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#closeAll();
    await this.#release();
  }

  async #closeAll(): Promise<void> {
    // After a failed write, closing fails as well.
    await this.#logs?.events.close().catch(() => undefined);
    await this.#logs?.audit.close().catch(() => undefined);
    await this.#store?.close().catch(() => undefined);
  }
}
