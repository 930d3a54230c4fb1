import { csvLine } from '../../domain/csv.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Output } from '../terminal/io.ts';
import type { RecordWriter } from './record-writer.ts';
import { type Column, exactText } from './view.ts';

const cell = (value: unknown) =>
  typeof value === 'number' ? value : escapeControl(exactText(value));

/** Writes CSV (RFC 4180) page by page. The header is written even without records. */
export function csvWriter(stdout: Output, columns: readonly Column<unknown>[]): RecordWriter {
  let hasHeader = false;
  const writeHeader = () => {
    if (!hasHeader) stdout.write(csvLine(columns.map(({ name }) => cell(name))));
    hasHeader = true;
  };
  return {
    async add(records) {
      writeHeader();
      stdout.write(
        records
          .map((record) => csvLine(columns.map((column) => cell(column.value(record)))))
          .join(''),
      );
    },
    end: async () => writeHeader(),
  };
}
