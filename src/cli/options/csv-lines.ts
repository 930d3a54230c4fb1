import { type CsvError, parse } from 'csv-parse/sync';
import { originalText } from '../../domain/csv.ts';
import { SignageError } from '../../domain/error.ts';
import { unescapeControl } from '../terminal/escape.ts';

/** One line of a CSV file. */
export interface CsvLine {
  number: number;
  cells: readonly string[];
}

/** Spreadsheets separate cells by semicolons in some countries, and copied cells by tabs. */
const delimiterOf = (header: string) =>
  [',', ';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ',';

/** Returns the lines of a CSV text that are not empty. Throws `invalid_file` for other text. */
export function readCsvLines(text: string, file: string): CsvLine[] {
  try {
    const records = parse(text, {
      delimiter: delimiterOf(text.split('\n', 1)[0] ?? ''),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { record: string[]; info: { lines: number } }[];
    return records.map(({ record, info }) => ({ number: info.lines, cells: record }));
  } catch (error) {
    const { lines, message } = error as CsvError;
    throw new SignageError(
      'invalid_file',
      `${file}, line ${lines}: is not valid CSV: ${message}.`,
      {
        cause: error,
      },
    );
  }
}

/** Returns the text of a cell as it was before `-o csv` wrote it. */
export const cellText = (cell: string) => unescapeControl(originalText(cell)).trim();
