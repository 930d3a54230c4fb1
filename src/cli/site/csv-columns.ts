import { labelPart, readLabels } from '../options/labels.ts';
import { type ConfigTree, mergeConfigs, readAssignment } from '../tenant-config/path.ts';

/** The content of a row. Members whose cells are empty are missing. */
export interface CsvEntry {
  venue?: string;
  name?: string;
  address?: string;
  timezone?: string;
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
};

/** Returns the name of a column that a spreadsheet may write in another case or way. */
export function columnNamed(header: string): string {
  const text = otherNames[header.trim().toLowerCase()] ?? header.trim();
  const isNamed = (name: string) => name.toLowerCase() === text.toLowerCase();
  const known = [...Object.keys(plain), ...readOnly].find(isNamed);
  return known ?? text.replace(/^(?:label|config)\./i, (kind) => kind.toLowerCase());
}

/** Spreadsheets write booleans in upper case. */
const settingText = (text: string) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() : text);

export const columnNames = [...Object.keys(plain), 'label.KEY', 'config.KEY'].join(', ');

const withLabels = (entry: CsvEntry, labels: Readonly<Record<string, string>>): CsvEntry => ({
  ...entry,
  labels: { ...entry.labels, ...labels },
});

/** Returns the function for the cells of a column, or `undefined` for an unknown column. */
export function fillOf(column: string): Fill | undefined {
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
