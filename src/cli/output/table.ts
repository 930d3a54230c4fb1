import { csvLine } from '../../domain/csv.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import { truncate } from '../terminal/truncate.ts';
import type { RecordWriter } from './record-writer.ts';
import { type Column, exactText, shownText } from './view.ts';

/** Turns `lastSeenAt` into the header `LAST SEEN AT`. */
const header = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toUpperCase();
/** Turns `lastSeenAt` into the label `Last seen at`. */
function label(name: string): string {
  const words = name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const cells = (columns: readonly Column<unknown>[], record: unknown, nowMs?: number) =>
  columns.map((column) => escapeControl(shownText((column.shown ?? column.value)(record), nowMs)));

/**
 * Returns a function that measures the width of these texts. Loads string-width only if a text is
 * not ASCII, because loading it is slow.
 */
async function widthOf(rows: readonly (readonly string[])[]): Promise<(text: string) => number> {
  const isPlain = rows.every((row) => row.every((text) => /^[\x20-\x7e]*$/.test(text)));
  return isPlain ? (text) => text.length : (await import('string-width')).default;
}

export interface TableOptions {
  stdout: Output;
  columns: readonly Column<unknown>[];
  /** Emphasises a header. */
  strong(text: string): string;
  /** Fits a list to a terminal. Default: values are complete. */
  fit?: TerminalFit;
}

/** Makes lines fit a terminal: cuts the widest cells, and shows times relative to now. */
interface TerminalFit {
  /** Width of a line, in characters. */
  lineWidth: number;
  /** Default: times are absolute. */
  nowMs?: number;
}

const separator = '  ';
const minColumnWidth = 3;
const minLastColumnWidth = 12;

/** Returns the width of a line with columns of these widths. */
const lineWidth = (widths: readonly number[]) =>
  widths.reduce((sum, one) => sum + one, separator.length * (widths.length - 1));

/** Narrows the last column, which has the details, and then the widest ones until a line fits. */
function fittingWidths(widths: readonly number[], width: number): number[] {
  const fitting = [...widths];
  const last = fitting.length - 1;
  for (let excess = lineWidth(fitting) - width; excess > 0; excess--) {
    const widest = largest(fitting);
    if (widest <= minColumnWidth) break;
    const isLast = (fitting[last] as number) > minLastColumnWidth;
    const narrowed = isLast ? last : fitting.lastIndexOf(widest);
    fitting[narrowed] = (fitting[narrowed] as number) - 1;
  }
  return fitting;
}

const minBarWidth = 8;

/**
 * Returns the function that draws a record's bar in the remaining width of its line.
 */
function barsOf(
  columns: readonly Column<unknown>[],
  records: readonly unknown[],
  leftWidth: number,
): (record: unknown) => string {
  const column = columns.find(({ bar }) => bar);
  if (!column || leftWidth < minBarWidth) return () => '';
  const numberOf = (record: unknown) => Number(column.value(record));
  const largest = records.reduce<number>((max, record) => Math.max(max, numberOf(record)), 0);
  return (record) =>
    largest === 0 ? '' : '█'.repeat(Math.ceil((leftWidth * numberOf(record)) / largest));
}

/** Writes a table with a header, page by page. A later page may widen columns. */
export function listTable({ stdout, columns, strong, fit }: TableOptions): RecordWriter {
  let widths: number[] | undefined;
  return {
    async add(records) {
      if (records.length === 0) return;
      const titles = columns.map(({ name }) => escapeControl(header(name)));
      const rows = records.map((record) => cells(columns, record, fit?.nowMs));
      const width = await widthOf([titles, ...rows]);
      const before = widths;
      const now = columns.map((_, at) =>
        largest(
          rows.map((row) => width(row[at] ?? '')),
          before?.[at] ?? width(titles[at] ?? ''),
        ),
      );
      widths = now;
      const shownWidths = fit ? fittingWidths(now, fit.lineWidth) : now;
      const shownCell = (cell: string, columnWidth: number) => {
        const shown = truncate(cell, columnWidth, width);
        return shown + ' '.repeat(columnWidth - width(shown));
      };
      const line = (row: readonly string[], bar = '') =>
        [...row.map((cell, at) => shownCell(cell, shownWidths[at] ?? 0)), bar]
          .join(separator)
          .trimEnd();
      const leftWidth = fit ? fit.lineWidth - lineWidth(shownWidths) - separator.length : 0;
      const bar = barsOf(columns, records, leftWidth);
      if (before === undefined) stdout.write(`${strong(line(titles))}\n`);
      stdout.write(rows.map((row, at) => `${line(row, bar(records[at]))}\n`).join(''));
    },
    end: async () => {},
  };
}

/** Writes one record as a line for each column. */
export function recordTable({ stdout, columns, strong }: TableOptions): RecordWriter {
  const labels = columns.map(({ name }) => escapeControl(label(name)));
  const widest = largest(
    labels.map((text) => text.length),
    0,
  );
  const lines = (record: unknown) =>
    cells(columns, record).map(
      (cell, at) => `${strong((labels[at] ?? '').padEnd(widest))}  ${cell}\n`,
    );
  return {
    add: async (records) =>
      stdout.write(records.map((record) => lines(record).join('')).join('\n')),
    end: async () => {},
  };
}

const csvCell = (value: unknown) =>
  typeof value === 'number' ? value : escapeControl(exactText(value));

/**
 * Writes CSV (RFC 4180) page by page. The header is written even without records. `bom`: Excel
 * reads UTF-8 only after a byte order mark.
 */
export function csvWriter(
  stdout: Output,
  columns: readonly Column<unknown>[],
  { bom }: { bom: boolean },
): RecordWriter {
  let hasHeader = false;
  const writeHeader = () => {
    const header = csvLine(columns.map(({ name }) => csvCell(name)));
    if (!hasHeader) stdout.write(bom ? `\ufeff${header}` : header);
    hasHeader = true;
  };
  return {
    async add(records) {
      writeHeader();
      stdout.write(
        records
          .map((record) => csvLine(columns.map((column) => csvCell(column.value(record)))))
          .join(''),
      );
    },
    end: async () => writeHeader(),
  };
}
