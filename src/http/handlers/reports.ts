import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { csvLine } from '../../domain/csv.ts';
import type { ImpressionReport, PlayRow, ReportRow } from '../../domain/records/report.ts';
import type { HandlerReply } from '../request/pipeline.ts';

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

function* jsonOf({ items, ...rest }: ImpressionReport): Generator<string> {
  yield '{"items":[';
  for (const [place, row] of items.entries()) yield (place === 0 ? '' : ',') + JSON.stringify(row);
  yield `],${JSON.stringify(rest).slice(1)}`;
}

/** Returns texts as a stream, joined to larger pieces. */
function streamOf(texts: Iterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      let piece = '';
      for (let row = 0; row < rowsPerPiece; row++) {
        const { value, done } = texts.next();
        if (done) {
          if (piece !== '') controller.enqueue(Buffer.from(piece));
          controller.close();
          return;
        }
        piece += value;
      }
      controller.enqueue(Buffer.from(piece));
    },
  });
}

function accepted(context: Context | undefined, supports: string[]): string | undefined {
  return (
    context && accepts(context, { header: 'Accept', supports, default: supports[0] as string })
  );
}

const playColumns = [
  ...(['venue', 'screen', 'item', 'creativeId', 'campaign', 'campaignId'] as const),
  ...(['localStart', 'start', 'seconds', 'planned', 'full', 'receivedAt', 'seq'] as const),
];

/** Returns plays as a stream: NDJSON, or CSV if the client accepts `text/csv`. */
export function playStream(
  groups: AsyncGenerator<PlayRow[]>,
  context: Context | undefined,
): HandlerReply {
  const isCsv = accepted(context, ['application/x-ndjson', 'text/csv']) === 'text/csv';
  const cellOf = (value: PlayRow[keyof PlayRow]) =>
    typeof value === 'number' ? value : String(value ?? '');
  const lineOf = (row: PlayRow) =>
    isCsv ? csvLine(playColumns.map((name) => cellOf(row[name]))) : `${JSON.stringify(row)}\n`;
  let isBegun = !isCsv;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const header = isBegun ? '' : csvLine(playColumns);
        isBegun = true;
        if (header !== '') return controller.enqueue(Buffer.from(header));
        const { value, done } = await groups.next();
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value.map(lineOf).join('')));
      },
      cancel: async () => void (await groups.return(undefined)),
    },
    { highWaterMark: 0 },
  );
  const type = isCsv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
  return { body, type, headers: { Vary: 'Accept' } };
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
  const isLarge = report.items.length > rowsPerPiece;
  if (type !== 'text/csv') return { body: isLarge ? streamOf(jsonOf(report)) : report, headers };
  const lines = csvOf(report.items, hasTwoGroups);
  return {
    body: isLarge ? streamOf(lines) : [...lines].join(''),
    type: 'text/csv; charset=utf-8; header=present',
    headers,
  };
}
