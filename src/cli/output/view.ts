/** One column of a table. */
export interface Column<T> {
  /**
   * Header of the CSV column. Tables show it in capitals. A column with a member of the record has
   * the name of that member.
   */
  name: string;
  value(record: T): unknown;
  /** Whether `-o table` omits the column in lists. */
  wide?: boolean;
}

/** The columns and the name of one kind of record, for people. */
export interface View<T> {
  columns: readonly Column<T>[];
  /** Returns the name that commands accept for the record: the output of `-o name`. */
  nameOf(record: T): string;
}

/** A view, or a function that makes it on demand. JSON and YAML need no view. */
export type ViewSource<T> = View<T> | (() => Promise<View<T>>);

/** Makes a column for a member of the record. */
export function member<T, K extends keyof T & string>(
  name: K,
  more: { wide?: boolean } = {},
): Column<T> {
  return { name, value: (record) => record[name], ...more };
}

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

/** Formats a value for people. */
export function shownText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = exactText(value);
  if (isoTime.test(text)) return `${text.slice(0, -5)}Z`;
  return text === '' ? '-' : text;
}
