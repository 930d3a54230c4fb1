import { marksDocument } from '../activity/last-activity.ts';
import { textLines } from '../checkpoint/lines.ts';
import { ringsDocument } from '../events/idempotency-keys.ts';
import { pastDocument, screenOf } from '../rows/playlist-history.ts';
import { type InMemoryTable, rowDocument, rowLines } from '../rows/row-documents.ts';
import type { Row } from '../rows/table-index.ts';
import { isObject, parsed, rowIn } from './row-shapes.ts';

/** The lines of a damaged document that are what its owner expects, and how many are not. */
export interface Salvaged {
  lines: string[];
  dropped: number;
}

type Salvage = (name: string, text: string, seq: number) => Salvaged;

/** `rows-…`: a row on each line, between lines that say its table. */
const salvageRows: Salvage = (name, text, seq) => {
  const tables = new Map<InMemoryTable, Map<string, Row>>();
  let dropped = 0;
  for (const line of textLines(text)) {
    if (!line.startsWith('{"id":')) {
      // The lines around rows are written anew.
      if (!isFrame(line)) dropped++;
      continue;
    }
    const found = rowIn(line);
    if (found && found.table !== 'pastPlaylists' && rowDocument(found.table, found.row) === name) {
      const rows = tables.get(found.table) ?? new Map<string, Row>();
      tables.set(found.table, rows.set(found.row.id, found.row));
    } else dropped++;
  }
  const kept = [...tables].map(([table, rows]) => ({ table, rows: [...rows.values()] }));
  return { lines: kept.length === 0 ? [] : [...rowLines(seq, kept)], dropped };
};

const isFrame = (line: string) => /^(\{"seq":\d+,"rows":\{|"\w+":\[|\],?|\}\})$/.test(line);

function salvageEach(isGood: (name: string, line: string) => boolean): Salvage {
  return (name, text) => {
    const all = [...textLines(text)];
    const lines = all.filter((line) => isGood(name, line));
    return { lines, dropped: all.length - lines.length };
  };
}

const byKind: Record<string, Salvage> = {
  rows: salvageRows,
  past: (name, text, seq) => {
    const isGood = (_: string, line: string) => {
      const found = rowIn(line);
      return found?.table === 'pastPlaylists' && pastDocument(screenOf(found.row.id)) === name;
    };
    const { lines, dropped } = salvageEach(isGood)(name, text, seq);
    return { lines: lines.sort(), dropped };
  },
  marks: salvageEach((name, line) => {
    const marks = parsed(line);
    return (
      isObject(marks) &&
      (marks.kind === 'device' || marks.kind === 'token') &&
      marksDocument(String(marks.id)) === name
    );
  }),
  rings: salvageEach((name, line) => {
    const ring = parsed(line);
    if (!Array.isArray(ring) || typeof ring[0] !== 'string' || typeof ring[1] !== 'string')
      return false;
    const bytes = Buffer.from(ring[1], 'base64');
    return (
      ringsDocument(ring[0]) === name &&
      bytes.length % 16 === 0 &&
      bytes.toString('base64') === ring[1]
    );
  }),
  rollups: salvageEach((_, line) => {
    const cell = parsed(line);
    return isCell.test(line) && Array.isArray(cell);
  }),
};

const isCell =
  /^\["[0-4]-(?:day|campaign|creative|venue|screen)","[^"]+","[^"]+","[^"]*",\d+,[\d.e+]+\]$/;

/** What can be read of a damaged document. */
export function salvageLines(name: string, bytes: Buffer, seq: number): Salvaged {
  const salvage = byKind[name.slice(0, name.indexOf('-'))];
  return salvage ? salvage(name, bytes.toString(), seq) : { lines: [], dropped: 1 };
}
