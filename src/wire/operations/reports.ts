import { get, type Operation } from '../operation.ts';

/** Status, events, reports and the audit trail (docs/protocol.md §5.3, §5.5–5.7). */
export const readingOperations = {
  listScreenStatus: get('/v1/status', 'viewer', {
    summary: 'Screens, each with its device and its newest playlist',
    query: 'screenStatusQuery',
    answer: 'screenStatusList',
  }),
  listEvents: get('/v1/events', 'viewer', {
    summary: 'Telemetry, newest receipt first; order=asc with after follows',
    query: 'eventQuery',
    answer: 'eventList',
    command: ['event', 'list'],
  }),
  reportImpressions: get('/v1/reports/impressions', 'viewer', {
    summary: 'Impressions by group, as JSON or CSV',
    query: 'reportQuery',
    answer: 'impressionReport',
    command: ['report', 'impressions'],
  }),
  listAudit: get('/v1/audit', 'admin', {
    summary: 'Every change, newest first',
    query: 'auditQuery',
    answer: 'auditList',
    command: ['audit', 'list'],
  }),
} satisfies Record<string, Operation>;
