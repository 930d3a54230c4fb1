import { type CsvError, parse } from 'csv-parse/sync';
import { originalText } from '../../domain/csv.ts';
import { SignageError } from '../../domain/error.ts';
import { unescapeControl } from '../terminal/escape.ts';

/** A number with a comma, as spreadsheets write it where cells are separated otherwise. */
const decimalComma = /^-?\d+,\d+$/;

/** Returns a number of a setting with a point: `1,5` is `1.5`. Other text is unchanged. */
export const withPoint = (text: string) =>
  decimalComma.test(text) ? text.replace(',', '.') : text;

export interface CsvLine {
  /** The line of the file on which the record begins, from 1. */
  number: number;
  /** Without empty cells at the end, which spreadsheets add. */
  cells: readonly string[];
  /** What separates the cells. */
  separator: string;
}

/** A first line that names the separator, which Excel writes and reads. */
const separatorLine = /^sep=([,;\t])(?:\r*\n|\r|$)/i;
const delimiters = [',', ';', '\t'];
/** Windows programs write `\r\r\n` if they convert line ends twice. */
const lineEnds = ['\r\r\n', '\r\n', '\n', '\r'];
const lineEnd = /\r\r\n|\r\n|\n|\r/g;

/**
 * Spreadsheets separate cells by semicolons in some countries, and copied cells by tabs. Returns
 * the most frequent separator of the header, outside quotes.
 */
function delimiterOf(text: string): string {
  const [header = ''] = /^(?:"[^"]*"|[^"\r\n])*/.exec(text) ?? [];
  const plain = header.replaceAll(/"[^"]*"/g, '');
  const count = (delimiter: string) => plain.split(delimiter).length;
  return delimiters.reduce((best, one) => (count(one) > count(best) ? one : best));
}

const lineCount = (text: string) => text.match(lineEnd)?.length ?? 0;

/** Counts the lines of a file up to positions that only grow. */
function makeLineCounter(body: string, firstLine: number) {
  const bytes = Buffer.from(body);
  let line = firstLine;
  let offset = 0;
  /** Returns the line on which the next record begins, and moves on to its end, in bytes. */
  return (end: number): number => {
    const passed = bytes.toString('latin1', offset, end);
    const [blank = ''] = /^[\r\n]*/.exec(passed) ?? [];
    const start = line + lineCount(blank);
    line = start + lineCount(passed.slice(blank.length));
    offset = end;
    return start;
  };
}

function mistakeOf({ code }: CsvError): string {
  return code === 'CSV_QUOTE_NOT_CLOSED'
    ? 'a quotation mark is not closed'
    : 'a quotation mark is inside a cell: double it, and put the cell in quotation marks';
}

function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
}

/** Returns the records of a CSV text that are not empty. Throws `invalid_file` for other text. */
export function readCsvLines(text: string, file: string): CsvLine[] {
  const [named = '', separator] = separatorLine.exec(text) ?? [];
  const body = text.slice(named.length);
  const nextLine = makeLineCounter(body, named === '' ? 1 : 2);
  const delimiter = separator ?? delimiterOf(body);
  try {
    const records = parse(body, {
      delimiter,
      info: true,
      record_delimiter: lineEnds,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { record: string[]; info: { bytes: number } }[];
    return records
      .map(({ record, info }) => ({
        number: nextLine(info.bytes),
        cells: withoutEmptyEnd(record),
        separator: delimiter,
      }))
      .filter(({ cells }) => cells.length > 0);
  } catch (cause) {
    const error = cause as CsvError & { bytes: number };
    nextLine(error.bytes);
    throw new SignageError(
      'invalid_file',
      `${file}, line ${nextLine(Buffer.byteLength(body))}: is not valid CSV: ${mistakeOf(error)}.`,
      { cause },
    );
  }
}

/** Returns the text of a cell as it was before `-o csv` wrote it. */
export const cellText = (cell: string) => unescapeControl(originalText(cell)).trim();
