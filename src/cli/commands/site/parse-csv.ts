import { dirname } from 'node:path';
import type { FieldError } from '../../../domain/error.ts';
import { foldName } from '../../../domain/fold-name.ts';
import { memberPath } from '../../../domain/json/schema-issue.ts';
import { type ConfigTree, mergeConfigTrees, readAssignment } from '../../input/config-path.ts';
import { type CsvLine, cellText, readCsvLines, withPoint } from '../../input/csv-lines.ts';
import { labelPart, readLabels } from '../../input/labels.ts';
import type { Path, SourceDocument } from '../../input/source-document.ts';
import { membersOf, type PlaceTexts, placeMembers } from '../../records/place-members.ts';

/** The content of a row. Members whose cells are empty are missing. */
interface CsvEntry extends PlaceTexts {
  venue?: string;
  name?: string;
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
  ...Object.fromEntries(
    Object.keys(placeMembers).map((name): [string, Fill] => [
      name,
      (entry, text) => ({ ...entry, [name]: text }),
    ]),
  ),
  labels: (entry, text) => withLabels(entry, readLabels(text.split(labelPart))),
  playlist: (entry, file) => ({ ...entry, playlist: { file } }),
};

/** Columns that `screen list -o csv` writes and that cannot be set. */
const readOnly = ['state', 'code', 'deviceId', 'id', 'venueId', 'createdAt', 'updatedAt'];

const venueMembers = membersOf('venue').map(([name]) => name);

/** What people call these columns in tables of their own. */
const otherNames: Readonly<Record<string, string>> = {
  screen: 'name',
  'screen name': 'name',
  'venue name': 'venue',
  ...Object.fromEntries(
    Object.entries(placeMembers).flatMap(([name, { alsoCalled = [] }]) =>
      alsoCalled.map((other) => [other, name]),
    ),
  ),
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

/** Whether a spreadsheet shortened a number, or a cell that was too narrow. */
const isShortened = (text: string) =>
  /^[-+]?\d(?:[.,]\d+)?E\+\d{2,}$/.test(text) || /^#{3,}$/.test(text);

/** Whether a cell, or the value of a label in it, was shortened. */
const hasShortened = (column: string, text: string) =>
  isShortened(text) ||
  (column === 'labels' &&
    text.split(labelPart).some((label) => isShortened(label.replace(/^[^=]*=/, ''))));

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
    const config = mergeConfigTrees(
      entry.config ?? {},
      readAssignment(`${key}=${settingText(text)}`),
    );
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
  { number, cells, separator }: CsvLine,
  columns: readonly string[],
  complain: (line: number, column: string, message: string) => void,
): Row {
  let entry: CsvEntry = {};
  const refused = new Set<string>();
  if (cells.length > columns.length) {
    const message = `has ${cells.length} cells, and the first line names ${columns.length} columns`;
    complain(number, 'the line', `${message}: put a text with separators in double quotes`);
  }
  for (const [at, column] of columns.entries()) {
    const written = cellText(cells[at] ?? '');
    const isSetting = column.startsWith('config.') && separator !== ',';
    const text = isSetting ? withPoint(written) : written;
    const fill = text === '' ? undefined : fillOf(column);
    if (!fill) continue;
    if (!readOnly.includes(column) && hasShortened(column, text)) {
      complain(number, column, 'a spreadsheet shortened this: format the column as text');
      refused.add(column);
      continue;
    }
    try {
      entry = fill(entry, text);
    } catch (error) {
      complain(number, column, (error as Error).message);
    }
  }
  if (entry.venue === undefined && !refused.has('venue')) complain(number, 'venue', 'is missing');
  const { labels, config, playlist } = entry;
  if (entry.name === undefined && !refused.has('name') && (labels ?? config ?? playlist))
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
/** Members of both kinds belong to the screen; in a line without one, to the venue. */
const isOfBoth = (member: string) => membersOf('screen').some(([name]) => name === member);
const firstWith = ({ rows }: Venue, member: keyof CsvEntry) =>
  rows.find(
    ({ entry }) => entry[member] !== undefined && !(isOfBoth(member) && entry.name !== undefined),
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
    if (/^(?:label|config)\.(?:.*\.)?__proto__(?:\.|$)/.test(column))
      complain(header.number, column, 'is a name that the service does not keep');
    else if (!fillOf(column))
      complain(header.number, `"${column}"`, `is not a known column. Columns: ${columnNames}`);
    else if (columns.indexOf(column) < at) complain(header.number, column, 'is a duplicate column');
  }
  for (const column of ['venue', 'name'].filter((one) => !columns.includes(one)))
    complain(header.number, column, `is a missing column. Columns: ${columnNames}`);
  if (lines.length === 0) complain(header.number, 'the file', 'has no line after the header');
  if (fieldErrors.length > 0) return undefined;

  const venues = byVenue(lines.map((line) => readRow(line, columns, complain)));
  for (const venue of venues) {
    for (const member of venueMembers.filter((name) => !isOfBoth(name))) {
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
        ...Object.fromEntries(
          venueMembers.map((name) => [name, firstWith(venue, name)?.entry[name]]),
        ),
        screens: screenRows(venue).map(({ entry }) => ({
          name: entry.name,
          ...Object.fromEntries(membersOf('screen').map(([name]) => [name, entry[name]])),
          labels: entry.labels,
          config: entry.config,
          playlist: entry.playlist,
        })),
      })),
    },
    folder: dirname(file),
    place,
    oddNumbers: [],
    written: () => undefined,
    complaint: (path, message) => ({
      path: `${place(path)}: ${origin(venues, path).column}`,
      message,
    }),
  };
}
