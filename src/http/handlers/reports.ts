import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { csvLine } from '../../domain/csv.ts';
import type { CoverageReport } from '../../domain/planned/coverage.ts';
import type { ImpressionReport, PlayRow, ReportRow } from '../../domain/records/report.ts';
import type { HandlerReply } from '../request/pipeline.ts';

type Report = ImpressionReport | CoverageReport;

/** Reports with more rows are sent as a stream, in pieces of so many rows. */
const rowsPerPiece = 5000;

const counts = ['fullPlays', 'partialPlays', 'unknownPlays', 'plays'] as const;
/** Columns of one group, of which readers rely on the first three, and of two. */
const ofOneGroup = ['key', 'impressions', 'seconds', ...counts, 'name'] as const;
const ofTwoGroups = [
  ...(['key', 'name', 'key2', 'name2', 'impressions', 'seconds'] as const),
  ...counts,
];

function* csvOf(rows: readonly ReportRow[], hasTwoGroups: boolean): Generator<string> {
  const columns: readonly (keyof ReportRow)[] = hasTwoGroups ? ofTwoGroups : ofOneGroup;
  yield csvLine(columns);
  for (const row of rows) yield csvLine(columns.map((column) => row[column] ?? ''));
}

function* jsonOf({ items, ...rest }: Report): Generator<string> {
  yield '{"items":[';
  for (const [place, row] of items.entries()) yield (place === 0 ? '' : ',') + JSON.stringify(row);
  yield `],${JSON.stringify(rest).slice(1)}`;
}

/** Joins texts to larger pieces. */
function* piecesOf(texts: Iterable<string>): Generator<Uint8Array> {
  let joined: string[] = [];
  for (const text of texts) {
    if (joined.push(text) < rowsPerPiece) continue;
    yield Buffer.from(joined.join(''));
    joined = [];
  }
  yield Buffer.from(joined.join(''));
}

/** Returns a report as JSON: as a stream if it is large. */
export const reportJson = (report: Report): HandlerReply => ({
  body: report.items.length > rowsPerPiece ? ReadableStream.from(piecesOf(jsonOf(report))) : report,
});

function accepted(context: Context | undefined, supports: string[]): string | undefined {
  return (
    context && accepts(context, { header: 'Accept', supports, default: supports[0] as string })
  );
}

const playColumns = [
  ...(['venue', 'screen', 'item', 'creativeId', 'campaign', 'campaignId'] as const),
  ...(['localStart', 'start', 'seconds', 'planned', 'full', 'receivedAt', 'seq'] as const),
];

/**
 * Returns plays as a stream: NDJSON, or CSV if the client accepts `text/csv`. Waits for the first
 * ones, so that a failure of the store is an answer of its own.
 */
export async function playStream(
  groups: AsyncGenerator<PlayRow[]>,
  context: Context | undefined,
): Promise<HandlerReply> {
  const isCsv = accepted(context, ['application/x-ndjson', 'text/csv']) === 'text/csv';
  const cellOf = (value: PlayRow[keyof PlayRow]) =>
    typeof value === 'number' ? value : String(value ?? '');
  const lineOf = (row: PlayRow) =>
    isCsv ? csvLine(playColumns.map((name) => cellOf(row[name]))) : `${JSON.stringify(row)}\n`;
  const first = await groups.next();
  async function* lines(): AsyncGenerator<Uint8Array> {
    if (isCsv) yield Buffer.from(csvLine(playColumns));
    for (let group = first; !group.done; group = await groups.next())
      yield Buffer.from(group.value.map(lineOf).join(''));
  }
  const type = isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
  return { body: ReadableStream.from(lines()), type, headers: { Vary: 'Accept' } };
}

/**
 * Returns the report as JSON, or as CSV if the client accepts `text/csv` (docs/protocol.md §5.6).
 */
export function reportCsv(
  report: ImpressionReport,
  hasTwoGroups: boolean,
  context: Context | undefined,
): HandlerReply {
  const type = accepted(context, ['application/json', 'text/csv']);
  const headers = { Vary: 'Accept' };
  if (type !== 'text/csv') return { ...reportJson(report), headers };
  const isLarge = report.items.length > rowsPerPiece;
  const lines = csvOf(report.items, hasTwoGroups);
  return {
    body: isLarge ? ReadableStream.from(piecesOf(lines)) : [...lines].join(''),
    type: 'text/csv; charset=utf-8; header=present',
    headers,
  };
}
