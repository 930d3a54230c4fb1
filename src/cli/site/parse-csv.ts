import { dirname } from 'node:path';
import type { FieldError } from '../../domain/error.ts';
import { foldName } from '../../domain/fields.ts';
import { memberPath } from '../../domain/json/schema-issue.ts';
import { type CsvLine, cellText, readCsvLines } from '../options/csv-lines.ts';
import { labelPart, readLabels } from '../options/labels.ts';
import type { Path, SourceDocument } from '../options/source-document.ts';
import { type ConfigTree, mergeConfigs, readAssignment } from '../tenant-config/path.ts';

/** The content of a row. Members whose cells are empty are missing. */
interface CsvEntry {
  venue?: string;
  name?: string;
  address?: string;
  timezone?: string;
  /** Of the screen; in a line without one, of the venue. */
  hours?: string;
  labels?: Readonly<Record<string, string>>;
  config?: ConfigTree;
  playlist?: { file: string };
}

/**
 * Returns a copy of the entry with the content of a cell. Throws `usage` if the text is malformed.
 */
type Fill = (entry: CsvEntry, text: string) => CsvEntry;

const plain: Readonly<Record<string, Fill>> = {
  venue: (entry, venue) => ({ ...entry, venue }),
  name: (entry, name) => ({ ...entry, name }),
  address: (entry, address) => ({ ...entry, address }),
  timezone: (entry, timezone) => ({ ...entry, timezone }),
  hours: (entry, hours) => ({ ...entry, hours }),
  labels: (entry, text) => withLabels(entry, readLabels(text.split(labelPart))),
  playlist: (entry, file) => ({ ...entry, playlist: { file } }),
};

/** Columns that `screen list -o csv` writes and that cannot be set. */
const readOnly = ['state', 'code', 'deviceId', 'id', 'venueId', 'createdAt', 'updatedAt'];

/** What people call these columns in tables of their own. */
const otherNames: Readonly<Record<string, string>> = {
  screen: 'name',
  'screen name': 'name',
  'venue name': 'venue',
  'time zone': 'timezone',
  'opening hours': 'hours',
};

/** Returns the name of a column that a spreadsheet may write in another case or way. */
function columnNamed(header: string): string {
  const text = otherNames[header.trim().toLowerCase()] ?? header.trim();
  const isNamed = (name: string) => name.toLowerCase() === text.toLowerCase();
  const known = [...Object.keys(plain), ...readOnly].find(isNamed);
  return known ?? text.replace(/^(?:label|config)\./i, (kind) => kind.toLowerCase());
}

/** Spreadsheets write booleans in upper case. */
const settingText = (text: string) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() : text);

const columnNames = [...Object.keys(plain), 'label.KEY', 'config.KEY'].join(', ');

const withLabels = (entry: CsvEntry, labels: Readonly<Record<string, string>>): CsvEntry => ({
  ...entry,
  labels: { ...entry.labels, ...labels },
});

/** Returns the function for the cells of a column, or `undefined` for an unknown column. */
function fillOf(column: string): Fill | undefined {
  if (Object.hasOwn(plain, column)) return plain[column];
  if (readOnly.includes(column)) return (entry) => entry;
  const [, kind, key = ''] = /^(label|config)\.(.+)$/.exec(column) ?? [];
  if (kind === 'label')
    return (entry, text) => withLabels(entry, Object.fromEntries([[key, text]]));
  if (kind === undefined) return undefined;
  return (entry, text) => {
    const config = mergeConfigs(entry.config ?? {}, readAssignment(`${key}=${settingText(text)}`));
    return { ...entry, config };
  };
}

/** A screen, or the venue alone if `name` is missing. */
interface Row {
  line: number;
  entry: CsvEntry;
}

interface Venue {
  name: string;
  rows: Row[];
}

/** Reads one line. Passes its mistakes to `complain`. */
function readRow(
  { number, cells }: CsvLine,
  columns: readonly string[],
  complain: (line: number, column: string, message: string) => void,
): Row {
  let entry: CsvEntry = {};
  if (cells.length > columns.length) {
    const message = `has ${cells.length} cells, and the first line names ${columns.length} columns`;
    complain(number, 'the line', `${message}: put a text with separators in double quotes`);
  }
  for (const [at, column] of columns.entries()) {
    const text = cellText(cells[at] ?? '');
    const fill = text === '' ? undefined : fillOf(column);
    if (!fill) continue;
    try {
      entry = fill(entry, text);
    } catch (error) {
      complain(number, column, (error as Error).message);
    }
  }
  if (entry.venue === undefined) complain(number, 'venue', 'is missing');
  const { labels, config, playlist } = entry;
  if (entry.name === undefined && (labels ?? config ?? playlist))
    complain(number, 'name', 'is missing: labels, config and playlist belong to a screen');
  return { line: number, entry };
}

function byVenue(rows: readonly Row[]): Venue[] {
  const venues = new Map<string, Venue>();
  for (const row of rows) {
    const { venue: name } = row.entry;
    if (name === undefined) continue;
    const venue = venues.get(foldName(name)) ?? { name, rows: [] };
    venue.rows.push(row);
    venues.set(foldName(name), venue);
  }
  return [...venues.values()];
}

const screenRows = ({ rows }: Venue) => rows.filter(({ entry }) => entry.name !== undefined);
const firstWith = ({ rows }: Venue, member: keyof CsvEntry) =>
  rows.find(
    ({ entry }) => entry[member] !== undefined && (member !== 'hours' || entry.name === undefined),
  );

/** Returns the row and the column that a path in the site document comes from. */
function origin(venues: readonly Venue[], [, at, member, ...inner]: Path) {
  const venue = venues[Number(at)];
  if (!venue) return { row: undefined, column: '' };
  if (member !== 'screens' || inner.length === 0) {
    const row = firstWith(venue, String(member) as keyof CsvEntry) ?? venue.rows[0];
    return { row, column: member === 'name' || member === undefined ? 'venue' : String(member) };
  }
  const [index, entry, ...key] = inner;
  const names: Record<string, string> = { labels: 'label', playlist: 'playlist' };
  const column = memberPath([names[String(entry)] ?? entry ?? 'name', ...key]);
  return { row: screenRows(venue)[Number(index)], column };
}

/**
 * Parses a CSV file of screens (docs/site-files.md) as a site document. Adds each mistake to
 * `fieldErrors` with its line and column. Checks rows only if `fieldErrors` is empty after the
 * header. Throws `invalid_file` for a text that is not CSV.
 */
export function parseCsv(
  text: string,
  file: string,
  fieldErrors: FieldError[],
): SourceDocument | undefined {
  const complain = (line: number, column: string, message: string) =>
    fieldErrors.push({ path: `${file}, line ${line}: ${column}`, message });
  const [header, ...lines] = readCsvLines(text, file);
  if (!header) return undefined;
  const columns = header.cells.map(columnNamed);
  for (const [at, column] of columns.entries()) {
    if (!fillOf(column))
      complain(header.number, `"${column}"`, `is not a known column. Columns: ${columnNames}`);
    else if (columns.indexOf(column) < at) complain(header.number, column, 'is a duplicate column');
  }
  for (const column of ['venue', 'name'].filter((one) => !columns.includes(one)))
    complain(header.number, column, `is a missing column. Columns: ${columnNames}`);
  if (lines.length === 0) complain(header.number, 'the file', 'has no line after the header');
  if (fieldErrors.length > 0) return undefined;

  const venues = byVenue(lines.map((line) => readRow(line, columns, complain)));
  for (const venue of venues) {
    for (const member of ['address', 'timezone'] as const) {
      const first = firstWith(venue, member);
      for (const { line, entry } of venue.rows)
        if (entry[member] !== undefined && entry[member] !== first?.entry[member])
          complain(
            line,
            member,
            `differs from line ${first?.line}: all lines of a venue must have the same value`,
          );
    }
  }
  const place = (path: Path) => `${file}, line ${origin(venues, path).row?.line ?? 1}`;
  return {
    value: {
      version: 1,
      venues: venues.map((venue) => ({
        name: venue.name,
        address: firstWith(venue, 'address')?.entry.address,
        timezone: firstWith(venue, 'timezone')?.entry.timezone,
        hours: firstWith(venue, 'hours')?.entry.hours,
        screens: screenRows(venue).map(({ entry: { name, hours, labels, config, playlist } }) => {
          return { name, hours, labels, config, playlist };
        }),
      })),
    },
    folder: dirname(file),
    place,
    written: () => undefined,
    complaint: (path, message) => ({
      path: `${place(path)}: ${origin(venues, path).column}`,
      message,
    }),
  };
}
