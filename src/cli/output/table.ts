import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import type { Sheet } from './sheet.ts';
import { type Column, shownText } from './view.ts';

/** `lastSeenAt` as the header `LAST SEEN AT`. */
const header = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toUpperCase();
/** `lastSeenAt` as the label `Last seen at`. */
function label(name: string): string {
  const words = name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const cells = (columns: readonly Column<unknown>[], record: unknown) =>
  columns.map((column) => escapeControl(shownText(column.value(record))));

/** What measures these texts. string-width takes longer to load than all else, and ASCII has none of the cases that it is for. */
async function widthOf(rows: readonly (readonly string[])[]): Promise<(text: string) => number> {
  const isPlain = rows.every((row) => row.every((text) => /^[\x20-\x7e]*$/.test(text)));
  return isPlain ? (text) => text.length : (await import('string-width')).default;
}

export interface TableOptions {
  stdout: Output;
  columns: readonly Column<unknown>[];
  /** Makes a header stand out. */
  strong(text: string): string;
}

/** Columns under a header, written page by page: a later page may be wider than those before, never cut. */
export function listTable({ stdout, columns, strong }: TableOptions): Sheet {
  let widths: number[] | undefined;
  return {
    async add(records) {
      if (records.length === 0) return;
      const titles = columns.map(({ name }) => escapeControl(header(name)));
      const rows = records.map((record) => cells(columns, record));
      const width = await widthOf([titles, ...rows]);
      const before = widths;
      const now = columns.map((_, at) =>
        Math.max(
          before?.[at] ?? width(titles[at] ?? ''),
          ...rows.map((row) => width(row[at] ?? '')),
        ),
      );
      widths = now;
      const line = (row: readonly string[]) =>
        row
          .map((cell, at) => cell + ' '.repeat((now[at] ?? 0) - width(cell)))
          .join('  ')
          .trimEnd();
      if (before === undefined) stdout.write(`${strong(line(titles))}\n`);
      stdout.write(rows.map((row) => `${line(row)}\n`).join(''));
    },
    end: async () => {},
  };
}

/** One record: a line for each of its columns. */
export function recordTable({ stdout, columns, strong }: TableOptions): Sheet {
  const labels = columns.map(({ name }) => escapeControl(label(name)));
  const widest = Math.max(0, ...labels.map((text) => text.length));
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
