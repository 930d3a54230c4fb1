import { tryParseJson } from '../../../domain/json/try-parse-json.ts';
import { sections, type TableName, tableNames } from '../../sections.ts';
import type { Row } from '../rows/table-index.ts';

/**
 * Parses a row from a line of a document. Its members identify the table. Returns `undefined` if it
 * matches no table.
 */
export function rowIn(line: string): { table: TableName; row: Row } | undefined {
  const row = parsed(line.endsWith(',') ? line.slice(0, -1) : line);
  const table = tableNames.find((name) => sections[name].row.safeParse(row).success);
  if (!isObject(row) || table === undefined) return undefined;
  const isPast = table === 'playlists' && String(row.id).includes('/');
  return { table: isPast ? 'pastPlaylists' : table, row: row as unknown as Row };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses the JSON of a line. Returns `undefined` for invalid JSON, and for a line with U+FFFD,
 * which has replaced bytes that are not UTF-8.
 */
export function parsed(line: string): unknown {
  return line.includes('\uFFFD') ? undefined : tryParseJson(line);
}
