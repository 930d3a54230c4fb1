import type { Output } from '../io.ts';
import { printable } from '../print.ts';
import type { Sheet } from './sheet.ts';
import { type Column, exactText } from './view.ts';

function cell(text: string): string {
  const shown = printable(text);
  return /[",]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

const line = (texts: readonly string[]) => `${texts.map(cell).join(',')}\r\n`;

/** RFC 4180, with a header also when there are no records; written page by page. */
export function csvSheet(stdout: Output, columns: readonly Column<unknown>[]): Sheet {
  let begun = false;
  const begin = () => {
    if (!begun) stdout.write(line(columns.map(({ name }) => name)));
    begun = true;
  };
  return {
    async add(records) {
      begin();
      stdout.write(records.map((record) => line(columns.map((column) => exactText(column.value(record))))).join(''));
    },
    end: async () => begin(),
  };
}
