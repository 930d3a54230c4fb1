import type { SequenceState } from '../../../domain/events/sequence.ts';
import { sectionOf, type TableName } from '../../sections.ts';
import { activityDocument } from '../activity/last-activity.ts';
import { type DocumentEntry, documentProblem, textLines } from '../checkpoint/document-file.ts';
import { copyFile } from '../disk/replace-file.ts';
import { idempotencyDocument } from '../events/idempotency-keys.ts';
import { sequenceDocument } from '../events/sequences.ts';
import { rowLines } from '../rows/row-documents.ts';
import type { Row } from '../rows/table-index.ts';
import type { RepairContext } from './repair-context.ts';
import { isObject, parsed, rowIn } from './row-shapes.ts';

/** Valid lines of a damaged document, and the number of invalid ones. */
interface Salvaged {
  lines: string[];
  dropped: number;
}

/** A damaged document, and its readable lines. */
export interface DamagedDocument extends Salvaged {
  name: string;
  entry: DocumentEntry;
}

/**
 * Copies all intact documents. Returns the intact documents, and the readable lines of the damaged
 * ones.
 */
export async function salvageDocuments(
  { from, into }: RepairContext,
  documents: Record<string, DocumentEntry>,
): Promise<{ intact: Record<string, DocumentEntry>; damaged: DamagedDocument[] }> {
  const intact: Record<string, DocumentEntry> = {};
  const damaged: DamagedDocument[] = [];
  for (const [name, entry] of Object.entries(documents)) {
    const path = `documents/${entry.file}`;
    const exists = (await from.disk.sizeOf(`${from.directory}/${path}`)) !== undefined;
    const bytes = exists ? await from.disk.readFile(`${from.directory}/${path}`) : Buffer.alloc(0);
    if (documentProblem(bytes, entry) === undefined) {
      await copyFile(from.disk, `${from.directory}/${path}`, `${into.directory}/${path}`);
      intact[name] = entry;
    } else damaged.push({ name, entry, ...salvageLines(name, bytes, entry.seq) });
  }
  return { intact, damaged };
}

type Salvage = (name: string, text: string, seq: number) => Salvaged;

/** Documents `rows-…` have one row per line, between lines that name the table. */
const salvageRows: Salvage = (name, text, seq) => {
  const tables = new Map<TableName, Map<string, Row>>();
  let dropped = 0;
  for (const line of textLines(text)) {
    if (!line.startsWith('{"id":')) {
      // Lines around rows do not count as dropped, because they are generated again.
      if (!isTableLine(line)) dropped++;
      continue;
    }
    const found = rowIn(line);
    if (found && sectionOf(found.table).document(found.row) === name) {
      const rows = tables.get(found.table) ?? new Map<string, Row>();
      tables.set(found.table, rows.set(found.row.id, found.row));
    } else dropped++;
  }
  const kept = [...tables].map(([table, rows]) => ({ table, rows: [...rows.values()] }));
  return { lines: kept.length === 0 ? [] : [...rowLines(seq, kept)], dropped };
};

const isTableLine = (line: string) => /^(\{"seq":\d+,"rows":\{|"\w+":\[|\],?|\}\})$/.test(line);

function salvageValidLines(isValid: (name: string, line: string) => boolean): Salvage {
  return (name, text) => {
    const all = [...textLines(text)];
    const lines = all.filter((line) => isValid(name, line));
    return { lines, dropped: all.length - lines.length };
  };
}

const byKind: Record<string, Salvage> = {
  rows: salvageRows,
  past: (name, text, seq) => {
    const isValid = (_: string, line: string) => {
      const found = rowIn(line);
      return (
        found?.table === 'pastPlaylists' && sectionOf(found.table).document(found.row) === name
      );
    };
    const { lines, dropped } = salvageValidLines(isValid)(name, text, seq);
    return { lines: lines.sort(), dropped };
  },
  marks: salvageValidLines((name, line) => {
    const activity = parsed(line);
    return (
      isObject(activity) &&
      (activity.kind === 'device' || activity.kind === 'token') &&
      activityDocument(String(activity.id)) === name
    );
  }),
  rings: salvageValidLines((name, line) => {
    const entry = parsed(line);
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || typeof entry[1] !== 'string')
      return false;
    const bytes = Buffer.from(entry[1], 'base64');
    return (
      idempotencyDocument(entry[0]) === name &&
      bytes.length % 16 === 0 &&
      bytes.toString('base64') === entry[1]
    );
  }),
  sequences: salvageValidLines((name, line) => {
    const entry = parsed(line);
    return (
      Array.isArray(entry) &&
      typeof entry[0] === 'string' &&
      sequenceDocument(entry[0]) === name &&
      isSequenceState(entry[1])
    );
  }),
  rollups: salvageValidLines((_, line) => {
    const counts = parsed(line);
    return countsPattern.test(line) && Array.isArray(counts);
  }),
};

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

function isSequenceState(value: unknown): value is SequenceState {
  if (!isObject(value)) return false;
  const { floor, missing, conflicts, ranges } = value;
  if (![floor, missing, conflicts].every(isCount) || !Array.isArray(ranges)) return false;
  let before = floor as number;
  return ranges.every((range: unknown) => {
    if (!Array.isArray(range) || range.length !== 2 || !range.every(isCount)) return false;
    const [first, last] = range as [number, number];
    const follows = first > before && last >= first;
    before = last + 1;
    return follows;
  });
}

const countsPattern =
  /^\["[0-4]-(?:day|campaign|creative|venue|screen)","[^"]+","[^"]+","[^"]*",\d+,[\d.e+]+\]$/;

/** Returns the valid lines of a damaged document. */
function salvageLines(name: string, bytes: Buffer, seq: number): Salvaged {
  const salvage = byKind[name.slice(0, name.indexOf('-'))];
  return salvage ? salvage(name, bytes.toString(), seq) : { lines: [], dropped: 1 };
}
