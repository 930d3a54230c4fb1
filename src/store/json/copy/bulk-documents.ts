import type { CopiedImpressions, DeviceKeys } from '../../copy/transfer.ts';
import { type DocumentEntry, writeDocument } from '../checkpoint/document-file.ts';
import type { RenderedDocument } from '../checkpoint/document-owner.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { IdempotencyKeys } from '../events/idempotency-keys.ts';
import { ImpressionCounter } from '../rollups/impression-counts.ts';
import { mergedLines } from '../rollups/merge.ts';
import { rollupDocument } from '../rollups/rollups.ts';

/** Written documents by name, as in a manifest. */
type Documents = Record<string, DocumentEntry>;

/** Folder for the documents, and the last batch that they contain. */
export interface DocumentFolder {
  disk: FileSystem;
  directory: string;
  seq: number;
}

/** Writes the first version of a document. */
function writeFirst(
  { disk, directory }: DocumentFolder,
  name: string,
  rendered: RenderedDocument,
): Promise<DocumentEntry> {
  return writeDocument(disk, directory, `${name}.0.json`, rendered);
}

/** Collects the idempotency keys of all devices in memory, as a running store does. */
export class BulkIdempotencyKeys {
  readonly #keys: IdempotencyKeys;
  readonly #folder: DocumentFolder;

  constructor(folder: DocumentFolder) {
    this.#folder = folder;
    this.#keys = new IdempotencyKeys({ seq: () => folder.seq, due: () => true });
  }

  add({ deviceId, keys }: DeviceKeys): void {
    for (const [key, sent] of keys)
      this.#keys.apply({ seq: 1, deviceId, recordedKey: { key, sent } });
  }

  async write(): Promise<Documents> {
    const written: Documents = {};
    for (const name of this.#keys.dirty()) {
      const rendered = await this.#keys.render(name);
      if (rendered) written[name] = await writeFirst(this.#folder, name, rendered);
    }
    return written;
  }
}

/**
 * Writes impressions, which arrive day by day. It holds one day in memory, and the few days that
 * share a document.
 */
export class BulkRollups {
  readonly #folder: DocumentFolder;
  readonly #counters = new Map<string, ImpressionCounter>();
  readonly #written: Documents = {};

  constructor(folder: DocumentFolder) {
    this.#folder = folder;
  }

  async add({
    scope,
    clock,
    group,
    day,
    key,
    impressions,
    seconds,
  }: CopiedImpressions): Promise<void> {
    const name = rollupDocument(clock, day);
    if (!this.#counters.has(name)) await this.#writeAll((other) => !other.endsWith('-other'));
    const counter = this.#counters.get(name) ?? new ImpressionCounter();
    this.#counters.set(name, counter);
    counter.addCell(scope, day, group, key, { impressions, seconds });
  }

  async write(): Promise<Documents> {
    await this.#writeAll(() => true);
    return this.#written;
  }

  async #writeAll(which: (name: string) => boolean): Promise<void> {
    for (const [name, counter] of this.#counters) {
      if (!which(name)) continue;
      const rendered = { lines: mergedLines(undefined, counter), seq: this.#folder.seq };
      this.#written[name] = await writeFirst(this.#folder, name, rendered);
      this.#counters.delete(name);
    }
  }
}
