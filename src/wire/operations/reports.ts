import { get, type Operation } from '../operation.ts';

/**
 * Status, events, notices, reports, the audit trail and requests of TVs (docs/protocol.md §5.3,
 * §5.5–5.7, §5.12, §5.16).
 */
export const readingOperations = {
  listScreenStatus: get('/v1/status', 'viewer', {
    summary: 'List screens, each with its device and its newest playlist',
    query: 'screenStatusQuery',
    answer: 'screenStatusList',
  }),
  listEvents: get('/v1/events', 'viewer', {
    summary: 'List events by time of receipt, newest first; order=asc with after lists new ones',
    query: 'eventQuery',
    answer: 'eventList',
    command: ['event', 'list'],
  }),
  listNotices: get('/v1/notices', 'viewer', {
    summary: 'List notices, newest first; order=asc with after lists new ones',
    query: 'noticeQuery',
    answer: 'noticeList',
    command: ['notice', 'list'],
  }),
  reportImpressions: get('/v1/reports/impressions', 'viewer', {
    summary: 'Count impressions by group, as JSON or CSV',
    query: 'reportQuery',
    answer: 'impressionReport',
    command: ['report', 'impressions'],
  }),
  reportPlays: get('/v1/reports/plays', 'viewer', {
    summary: 'List single plays by time of receipt, oldest first, as NDJSON or CSV',
    query: 'playsQuery',
    searches: true,
    command: ['report', 'plays'],
  }),
  reportCoverage: get('/v1/reports/coverage', 'viewer', {
    summary: 'Compare what was planned with what was played, by group',
    query: 'coverageQuery',
    searches: true,
    answer: 'coverageReport',
    command: ['report', 'coverage'],
  }),
  listAudit: get('/v1/audit', 'admin', {
    summary: 'List the audit trail, newest first',
    query: 'auditQuery',
    answer: 'auditList',
    command: ['audit', 'list'],
  }),
  listRequests: get('/v1/requests', 'operator', {
    summary: 'List the latest requests of TVs and their answers, newest first',
    query: 'tvRequestQuery',
    answer: 'tvRequestList',
  }),
} satisfies Record<string, Operation>;
