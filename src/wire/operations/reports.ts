import { get, type Operation } from '../operation.ts';

/**
 * Status, events, reports, the audit trail and requests of TVs (docs/protocol.md §5.3,
 * §5.5–5.7, §5.12).
 */
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
  listRequests: get('/v1/requests', 'operator', {
    summary: 'The latest requests of TVs and their answers, newest first',
    query: 'tvRequestQuery',
    answer: 'tvRequestList',
  }),
} satisfies Record<string, Operation>;
