import { frozen } from './frozen.ts';
import { JsonText } from './json-text.ts';
import type { Row } from './table-index.ts';

/** A row as the text that it was loaded as; parsed when somebody reads it. */
export class RowText extends JsonText {
  /** What it was last parsed to, as long as that is kept. */
  #row: Row | undefined;

  get row(): Row | undefined {
    return this.#row;
  }

  parse(): Row {
    this.#row = frozen<Row>(JSON.parse(this.toString()));
    return this.#row;
  }

  forget(): void {
    this.#row = undefined;
  }
}

/** Texts of rows, of which those that were parsed last are kept as rows, too: a fleet that is awake reads the same ones again and again. */
export class ParsedRows {
  readonly #most: number;
  readonly #texts: RowText[] = [];
  #next = 0;

  /** @param most rows that are kept; one with a playlist of ten items takes 3 KB */
  constructor(most = 10_000) {
    this.#most = most;
  }

  rowOf(text: RowText): Row {
    if (text.row) return text.row;
    this.#texts[this.#next]?.forget();
    this.#texts[this.#next] = text;
    this.#next = (this.#next + 1) % this.#most;
    return text.parse();
  }
}
