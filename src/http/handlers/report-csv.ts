import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { csvLine } from '../../domain/csv.ts';
import type { ImpressionReport, ReportRow } from '../../domain/records/report.ts';
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

/**
 * Returns the report as JSON, or as CSV if the client accepts `text/csv` (docs/protocol.md §5.6).
 */
export function reportCsv(
  report: ImpressionReport,
  hasTwoGroups: boolean,
  context: Context | undefined,
): HandlerReply {
  const type =
    context &&
    accepts(context, {
      header: 'Accept',
      supports: ['application/json', 'text/csv'],
      default: 'application/json',
    });
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
