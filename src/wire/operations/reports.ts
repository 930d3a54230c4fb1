import type { Operation } from '../operation.ts';

/** Events, reports and the audit trail (docs/protocol.md §5.5–5.7). */
export const readingOperations = {
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    access: 'viewer',
    summary: 'Telemetry, newest receipt first; order=asc with after follows',
    query: 'eventQuery',
    status: 200,
    answer: 'eventList',
    command: ['event', 'list'],
  },
  reportImpressions: {
    method: 'GET',
    path: '/v1/reports/impressions',
    access: 'viewer',
    summary: 'Impressions by group, as JSON or CSV',
    query: 'reportQuery',
    status: 200,
    answer: 'impressionReport',
    command: ['report', 'impressions'],
  },
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    access: 'admin',
    summary: 'Every change, newest first',
    query: 'auditQuery',
    status: 200,
    answer: 'auditList',
    command: ['audit', 'list'],
  },
} as const satisfies Record<string, Operation>;
