import { createHash } from 'node:crypto';
import { dayMs } from '../clock.ts';
import type { PlayRow } from '../records/report.ts';

const rowText = /^(\{.*,"check":")[0-9a-f]{16}"\}$/;

/**
 * The rows of a statement as they are written or read: lines of JSON. The last member of each,
 * `check`, is the beginning of the SHA-256 of all bytes before it, so that it shows the first row
 * that was changed, removed, inserted or moved.
 */
export class RowTally {
  plays = 0;
  #full = 0;
  #milliseconds = 0;
  #late = 0;
  readonly #hash = createHash('sha256');

  /** Returns the line of a row. */
  write(row: PlayRow): string {
    return this.#add(`${JSON.stringify(row).slice(0, -1)},"check":"`, row, 'utf8');
  }

  /**
   * Returns whether a line is the next row as it was written. Its characters are bytes (`latin1`).
   */
  read(line: string): boolean {
    const [, start] = rowText.exec(line) ?? [];
    if (start === undefined) return false;
    try {
      const row = JSON.parse(`${Buffer.from(start, 'latin1')}"}`) as PlayRow;
      return this.#add(start, row, 'latin1') === `${line}\n`;
    } catch {
      return false;
    }
  }

  /** Returns what the head says of these rows. */
  figures() {
    return {
      plays: String(this.plays),
      'full-plays': String(this.#full),
      seconds: String(this.#milliseconds / 1000),
      late: String(this.#late),
      rows: this.#hash.copy().digest('hex'),
    };
  }

  #add(start: string, row: PlayRow, encoding: 'utf8' | 'latin1'): string {
    const lastedMs = Math.round(Math.min(row.seconds * 1000, Number.MAX_SAFE_INTEGER));
    this.plays++;
    if (row.full) this.#full++;
    this.#milliseconds += lastedMs;
    // A play is late if it came more than a day after its end.
    if (Date.parse(row.receivedAt) - Date.parse(row.start) - lastedMs > dayMs) this.#late++;
    this.#hash.update(start, encoding);
    const end = `${this.#hash.copy().digest('hex').slice(0, 16)}"}\n`;
    this.#hash.update(end);
    return `${start}${end}`;
  }
}
