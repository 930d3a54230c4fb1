import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { csvLine } from '../../domain/csv.ts';
import type { ImpressionReport, ReportRow } from '../../domain/records/report.ts';
import type { HandlerReply } from '../request/pipeline.ts';

function csv(rows: readonly ReportRow[]): string {
  const lines = [
    ['key', 'impressions', 'seconds'],
    ...rows.map((row) => [row.key, row.impressions, row.seconds]),
  ];
  return lines.map((cells) => csvLine(cells)).join('');
}

/**
 * Returns the report as JSON, or as CSV if the client accepts `text/csv` (docs/protocol.md §5.6).
 */
export function reportCsv(report: ImpressionReport, context: Context | undefined): HandlerReply {
  const type =
    context &&
    accepts(context, {
      header: 'Accept',
      supports: ['application/json', 'text/csv'],
      default: 'application/json',
    });
  const vary = { Vary: 'Accept' };
  if (type !== 'text/csv') return { body: report, headers: vary };
  return {
    body: csv(report.items),
    type: 'text/csv; charset=utf-8; header=present',
    headers: vary,
  };
}
