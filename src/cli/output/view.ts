import { relativeTime } from '../terminal/text.ts';

/** One column of a table. */
export interface Column<T> {
  /**
   * Header of the CSV column. Tables show it in capitals. A column that shows a member of the
   * record has the name of that member.
   */
  name: string;
  value(record: T): unknown;
  /** Returns the value for people. Default: `value`. */
  shown?(record: T): unknown;
  /** Whether a table on a terminal draws the numbers of this column as bars, if it has room. */
  bar?: boolean;
  /** Whether `-o table` omits the column in lists. */
  wide?: boolean;
}

/** A result of a check, for people. */
export interface MarkedLine {
  mark: 'ok' | 'warn' | 'fail';
  text: string;
  /** The command to run next, or `null`. */
  next: string | null;
}

/** A result of a check, for programs that read JUnit XML. */
export interface TestCase {
  name: string;
  /** Name of the class, which groups test cases. */
  group: string;
  /** Reason for a failure. `undefined`: the check did not fail. */
  failure?: string | undefined;
  /** Reason for skipping the check. `undefined`: the check was not skipped. */
  skipped?: string | undefined;
}

/** The columns and the name of one kind of record, for people. */
export interface View<T> {
  columns: readonly Column<T>[];
  /** Makes `-o table` show each record of a list as a marked line, in place of a row. */
  marked?(record: T): MarkedLine;
  /** Makes the test case of `-o junit`. Absent for records that are not checks. */
  testCase?(record: T): TestCase;
  /** Returns the name that commands accept for the record: the output of `-o name`. */
  nameOf(record: T): string;
}

/** A view, or a function that makes it on demand. JSON, NDJSON and YAML need no view. */
export type ViewSource<T> = View<T> | (() => Promise<View<T>>);

/** Makes a column for a member of the record. */
export function member<T, K extends keyof T & string>(
  name: K,
  more: { wide?: boolean } = {},
): Column<T> {
  return { name, value: (record) => record[name], ...more };
}

/** Makes columns for members of the record. */
export const members = <T>(...names: (keyof T & string)[]): Column<T>[] =>
  names.map((name) => member(name));

/** Makes columns that `-o table` omits in lists. */
export const wideMembers = <T>(...names: (keyof T & string)[]): Column<T>[] =>
  names.map((name) => member(name, { wide: true }));

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Formats a map of strings as `floor=2, wing=east`, and an array of strings with commas. Formats
 * any other value as JSON.
 */
function structureText(value: object): string {
  const entries = Object.entries(value);
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
  const flat = entries.every(([, one]) => typeof one === 'string');
  return flat ? entries.map(([key, one]) => `${key}=${one}`).join(', ') : JSON.stringify(value);
}

/** Formats a value for programs: exact, and empty for `null` and `undefined`. */
export function exactText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? structureText(value) : String(value);
}

/** Formats a value for people. With `nowMs`, formats times relative to it: `5 min ago`. */
export function shownText(value: unknown, nowMs?: number): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = exactText(value);
  // A service may answer anything. Such a time is printed as it came.
  if (isoTime.test(text) && !Number.isNaN(Date.parse(text)))
    return nowMs === undefined ? `${text.slice(0, -5)}Z` : relativeTime(Date.parse(text), nowMs);
  return text === '' ? '-' : text;
}
