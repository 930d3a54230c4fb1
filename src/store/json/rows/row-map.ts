import { deepFreeze } from './deep-freeze.ts';
import { endOfId, HashIndex } from './hash-index.ts';
import type { Row } from './table-index.ts';

/** The rows of one table by id. */
export class RowMap {
  readonly #rows = new HashIndex<Row>((row, id) => row.id === id, endOfId);

  /** Freezes the row on first access. Freezing all rows at load time would slow the start. */
  get(id: string): Row | undefined {
    return deepFreeze(this.#rows.get(id));
  }

  set(id: string, row: Row): void {
    this.#rows.set(id, row);
  }

  delete(id: string): void {
    this.#rows.delete(id);
  }

  /** Iterates over the ids of all rows. Rows may be added and deleted during the iteration. */
  *ids(): Generator<string> {
    for (const { id } of this.all()) yield id;
  }

  all(): Generator<Row> {
    return this.#rows.values();
  }
}
