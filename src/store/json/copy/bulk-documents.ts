import { BatchSums } from '../../../domain/events/batch-counts.ts';
import type { CopiedImpressions, DeviceKeys } from '../../copy/transfer.ts';
import { type DocumentEntry, DocumentFile } from '../checkpoint/document-file.ts';
import type { RenderedDocument } from '../checkpoint/document-owner.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { IdempotencyKeys } from '../events/idempotency-keys.ts';
import { ImpressionCounter } from '../rollups/impression-counts.ts';
import { mergedLines } from '../rollups/merge.ts';
import { rollupDocument } from '../rollups/rollups.ts';

/** Documents that were written, by name, as a manifest has them. */
type Documents = Record<string, DocumentEntry>;

/** Where documents go, and the last batch that they contain. */
export interface DocumentPlace {
  disk: FileSystem;
  directory: string;
  seq: number;
}

async function writeDocument(
  { disk, directory }: DocumentPlace,
  name: string,
  rendered: RenderedDocument,
): Promise<Documents> {
  const file = new DocumentFile(disk, directory, {
    file: `${name}.0.json`,
    size: 0,
    crc: '',
    seq: 0,
  });
  await file.write(rendered);
  return { [name]: file.entry };
}

/** Gathers the idempotency keys of all devices, which a start holds in memory as well. */
export class BulkRings {
  readonly #rings: IdempotencyKeys;
  readonly #place: DocumentPlace;

  constructor(place: DocumentPlace) {
    this.#place = place;
    this.#rings = new IdempotencyKeys({ seq: () => place.seq, due: () => true });
  }

  add({ deviceId, keys }: DeviceKeys): void {
    const nowhere = {
      seq: 1,
      receivedAt: 0,
      tenantId: '',
      venueId: '',
      screenId: '',
      sums: new BatchSums(),
    };
    for (const [key, sent] of keys)
      this.#rings.apply({ ...nowhere, deviceId, mark: { key, sent } });
  }

  async write(): Promise<Documents> {
    const written: Documents = {};
    for (const name of this.#rings.dirty()) {
      const rendered = await this.#rings.render(name);
      if (rendered) Object.assign(written, await writeDocument(this.#place, name, rendered));
    }
    return written;
  }
}

/** Writes impressions, which come day by day: no more than a day of them is held, and the few of days that share a document. */
export class BulkRollups {
  readonly #place: DocumentPlace;
  readonly #tallies = new Map<string, ImpressionCounter>();
  readonly #written: Documents = {};

  constructor(place: DocumentPlace) {
    this.#place = place;
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
    if (!this.#tallies.has(name)) await this.#writeAll((other) => !other.endsWith('-other'));
    const tally = this.#tallies.get(name) ?? new ImpressionCounter();
    this.#tallies.set(name, tally);
    tally.addCell(scope, day, group, key, { impressions, seconds });
  }

  async write(): Promise<Documents> {
    await this.#writeAll(() => true);
    return this.#written;
  }

  async #writeAll(which: (name: string) => boolean): Promise<void> {
    for (const [name, tally] of this.#tallies) {
      if (!which(name)) continue;
      const rendered = { lines: mergedLines(undefined, tally), seq: this.#place.seq };
      Object.assign(this.#written, await writeDocument(this.#place, name, rendered));
      this.#tallies.delete(name);
    }
  }
}
