import { deepFreeze } from './deep-freeze.ts';
import { endOfId, HashIndex } from './hash-index.ts';
import type { Row } from './table-index.ts';

/** Rows by id. */
export class RowMap {
  readonly #rows = new HashIndex<Row>((row, id) => row.id === id, endOfId);

  /** Frozen now rather than when it was loaded: a start has better things to do with 500,000 rows. */
  get(id: string): Row | undefined {
    return deepFreeze(this.#rows.get(id));
  }

  set(id: string, row: Row): void {
    this.#rows.set(id, row);
  }

  delete(id: string): void {
    this.#rows.delete(id);
  }

  /** Of all rows, also of those that come or go meanwhile. */
  *ids(): Generator<string> {
    for (const { id } of this.all()) yield id;
  }

  all(): Generator<Row> {
    return this.#rows.values();
  }
}
