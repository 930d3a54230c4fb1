import { type CsvForm, csvLine } from '../../domain/csv.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import type { TextStyle } from '../terminal/colours.ts';
import { type Painter, plainPainter } from '../terminal/colours.ts';
import { escapeControl, ownSequence } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import { truncate, truncateScreen } from '../terminal/truncate.ts';
import { type Column, exactText, shownText } from './view.ts';

/** Writes the records of one result in one output format, page by page. */
export interface RecordWriter {
  add(records: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

/** Makes a writer that writes each record at once. */
export function eachRecord(write: (record: unknown) => void): RecordWriter {
  return { add: async (records) => records.forEach(write), end: async () => {} };
}

/** Makes a writer that writes all records at the end. */
export function allRecords(
  write: (records: readonly unknown[]) => Promise<void> | void,
): RecordWriter {
  const all: unknown[] = [];
  return {
    async add(records) {
      for (const record of records) all.push(record);
    },
    end: async () => write(all),
  };
}

/** Columns whose words are states. */
const stateColumns = ['state', 'status', 'result', 'condition'];

const looks: Readonly<Record<string, TextStyle>> = {
  ok: 'good',
  active: 'good',
  bound: 'good',
  paired: 'good',
  used: 'good',
  '✓': 'good',
  playing: 'good',
  partly_failing: 'warning',
  outdated: 'warning',
  never_seen: 'warning',
  unconfirmed: 'warning',
  pending: 'warning',
  dark: 'bad',
  stopped: 'bad',
  failing: 'bad',
  silent: 'bad',
  hidden: 'bad',
  failed: 'bad',
  '✗': 'bad',
  unpaired: 'faint',
  asleep: 'faint',
  idle: 'faint',
  provisioning: 'faint',
  suspended: 'faint',
  superseded: 'faint',
  withdrawn: 'faint',
  expired: 'faint',
  cancelled: 'faint',
  unchanged: 'faint',
  '–': 'faint',
};

/** Returns the colour of a cell. `undefined`: it is no state, or a state without a colour. */
export function lookOfState(column: string, text: string): TextStyle | undefined {
  return stateColumns.includes(column) && Object.hasOwn(looks, text) ? looks[text] : undefined;
}

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
  /** Colours headers and states. Default: no colours. */
  paint?: Painter;
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
/** Minimum width of columns while it keeps the names of screens complete. */
const minReadableWidth = 11;
const minDetailsWidth = 6;
/** Columns with names, alone or as `Venue/Screen`. They are cut last. */
const isName = ({ name }: Column<unknown>) => name === 'name' || name === 'screen';

/** Returns the width of a line with columns of these widths. */
const lineWidth = (widths: readonly number[]) =>
  widths.reduce((sum, one) => sum + one, separator.length * (widths.length - 1));

/** Returns the width that a cell needs if its venue is cut. */
const widthWithoutVenue = (text: string, width: (text: string) => number) =>
  width(text.replace(/^[^/]+(?=\/)/, '…'));

/**
 * Narrows columns until a line fits: the last column, which has the details, then the widest ones
 * down to their floor, then the details again, and only then names. `isNamed`: the last column has
 * names, and no details.
 */
function fittingWidths(
  widths: readonly number[],
  floors: readonly number[],
  { width, isNamed }: { width: number; isNamed: boolean },
): number[] {
  const fitting = [...widths];
  const last = fitting.length - 1;
  const widthAt = (at: number) => fitting[at] as number;
  const widestAbove = (floorOf: (at: number) => number) =>
    fitting
      .map((_, at) => at)
      .filter((at) => widthAt(at) > floorOf(at))
      .toSorted((a, b) => widthAt(b) - widthAt(a) || b - a)[0];
  const [least, details] = isNamed
    ? [floors[last] as number, floors[last] as number]
    : [minLastColumnWidth, minDetailsWidth];
  for (let excess = lineWidth(fitting) - width; excess > 0; excess--) {
    const narrowed =
      (widthAt(last) > least ? last : undefined) ??
      widestAbove((at) => floors[at] as number) ??
      (widthAt(last) > details ? last : undefined) ??
      widestAbove(() => minColumnWidth);
    if (narrowed === undefined) break;
    fitting[narrowed] = widthAt(narrowed) - 1;
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
  const most = largest(records.map(numberOf), 0);
  return (record) =>
    most === 0 ? '' : '█'.repeat(Math.ceil((leftWidth * numberOf(record)) / most));
}

/** Writes a table with a header, page by page. A later page may widen columns. */
export function listTable({
  stdout,
  columns,
  paint = plainPainter,
  fit,
}: TableOptions): RecordWriter {
  let widths: number[] | undefined;
  const lastColumn = columns.at(-1);
  const isNamed = lastColumn !== undefined && isName(lastColumn);
  let floors: number[] = columns.map((column) => (isName(column) ? 0 : minReadableWidth));
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
      floors = floors.map((floor, at) =>
        isName(columns[at] as Column<unknown>)
          ? largest(
              rows.map((row) => widthWithoutVenue(row[at] ?? '', width)),
              floor,
            )
          : floor,
      );
      const shownWidths = fit ? fittingWidths(now, floors, { width: fit.lineWidth, isNamed }) : now;
      const shownCell = (cell: string, at: number) => {
        const column = columns[at] as Column<unknown>;
        const columnWidth = shownWidths[at] ?? 0;
        const shown = (isName(column) ? truncateScreen : truncate)(cell, columnWidth, width);
        const look = lookOfState(column.name, cell);
        return (look ? paint[look](shown) : shown) + ' '.repeat(columnWidth - width(shown));
      };
      const line = (row: readonly string[], bar = '') =>
        [...row.map(shownCell), bar].join(separator).trimEnd();
      const leftWidth = fit ? fit.lineWidth - lineWidth(shownWidths) - separator.length : 0;
      const bar = barsOf(columns, records, leftWidth);
      if (before === undefined) stdout.write(`${paint.strong(line(titles))}\n`);
      stdout.write(rows.map((row, at) => `${line(row, bar(records[at]))}\n`).join(''));
    },
    end: async () => {},
  };
}

/** Writes one record as a line for each column. */
export function recordTable({ stdout, columns, paint = plainPainter }: TableOptions): RecordWriter {
  const labels = columns.map(({ name }) => escapeControl(label(name)));
  const widest = largest(
    labels.map((text) => text.length),
    0,
  );
  const lines = (record: unknown) =>
    cells(columns, record).map((cell, at) => {
      const look = lookOfState(columns[at]?.name ?? '', cell);
      const shown = look ? paint[look](cell) : cell;
      return `${paint.strong((labels[at] ?? '').padEnd(widest))}  ${shown}\n`;
    });
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
  { bom, ...form }: CsvForm & { bom: boolean },
): RecordWriter {
  let hasHeader = false;
  const writeHeader = () => {
    const header = csvLine(
      columns.map(({ name }) => csvCell(name)),
      form,
    );
    if (!hasHeader) stdout.write(bom ? ownSequence('\ufeff') + header : header);
    hasHeader = true;
  };
  return {
    async add(records) {
      writeHeader();
      stdout.write(
        records
          .map((record) =>
            csvLine(
              columns.map((column) => csvCell(column.value(record))),
              form,
            ),
          )
          .join(''),
      );
    },
    end: async () => writeHeader(),
  };
}
