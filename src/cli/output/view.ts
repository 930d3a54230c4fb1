/** One column of a table. */
export interface Column<T> {
  /** As in the JSON, where it is there: the header of CSV, and spelled in capitals that of tables. */
  name: string;
  value(record: T): unknown;
  /** Shown in `wide` and CSV only, and for single records. */
  wide?: boolean;
}

/** How people see the records of a kind. */
export interface View<T> {
  columns: readonly Column<T>[];
  /** What the record is called, so that it can be typed back: the output of `-o name`. */
  nameOf(record: T): string;
}

/** A view, or what makes it once it turns out to be needed: JSON and YAML need none. */
export type ViewSource<T> = View<T> | (() => Promise<View<T>>);

/** A column that shows a member as it is. */
export function member<T, K extends keyof T & string>(
  name: K,
  more: { wide?: boolean } = {},
): Column<T> {
  return { name, value: (record) => record[name], ...more };
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A map of texts as people write it: `floor=2, wing=east`; all else as JSON. */
function structureText(value: object): string {
  const entries = Object.entries(value);
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
  const flat = entries.every(([, one]) => typeof one === 'string');
  return flat ? entries.map(([key, one]) => `${key}=${one}`).join(', ') : JSON.stringify(value);
}

/** A value for programs: exact, and empty where there is none. */
export function exactText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? structureText(value) : String(value);
}

/** A value for people. */
export function shownText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = exactText(value);
  if (isoTime.test(text)) return `${text.slice(0, -5)}Z`;
  return text === '' ? '-' : text;
}
