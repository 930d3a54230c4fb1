import { csvLine } from '../../domain/csv.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import type { Sheet } from './sheet.ts';
import { type Column, exactText } from './view.ts';

const cell = (value: unknown) =>
  typeof value === 'number' ? value : escapeControl(exactText(value));

/** RFC 4180, with a header also when there are no records; written page by page. */
export function csvSheet(stdout: Output, columns: readonly Column<unknown>[]): Sheet {
  let begun = false;
  const begin = () => {
    if (!begun) stdout.write(csvLine(columns.map(({ name }) => cell(name))));
    begun = true;
  };
  return {
    async add(records) {
      begin();
      stdout.write(
        records
          .map((record) => csvLine(columns.map((column) => cell(column.value(record)))))
          .join(''),
      );
    },
    end: async () => begin(),
  };
}
