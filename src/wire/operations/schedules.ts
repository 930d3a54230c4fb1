import { get, type Operation, put, remove } from '../operation.ts';

const putSchedule = <L extends 'screen' | 'venue'>(level: L) =>
  put(`/v1/${level}s/:id/schedule`, 'operator', {
    summary: `Set the schedule of a ${level}`,
    revision: true,
    record: level,
    body: 'scheduleInput',
    partLimit: 50_000,
    answer: 'schedule',
    errors: ['media_not_found', 'timezone_required', 'playlist_quota_exceeded'],
    command: ['schedule', 'set'],
  });

const getSchedule = <L extends 'screen' | 'venue'>(level: L) =>
  get(`/v1/${level}s/:id/schedule`, 'viewer', {
    summary: `Get the schedule of a ${level}`,
    revision: true,
    record: level,
    answer: 'schedule',
    errors: ['schedule_not_found'],
    command: ['schedule', 'get'],
  });

const removeSchedule = <L extends 'screen' | 'venue'>(level: L) =>
  remove(`/v1/${level}s/:id/schedule`, 'operator', {
    summary: `Remove the schedule of a ${level}`,
    revision: true,
    record: level,
    command: ['schedule', 'clear'],
  });

/** What plays when (docs/protocol.md §5.18). */
export const scheduleOperations = {
  putScreenSchedule: putSchedule('screen'),
  getScreenSchedule: getSchedule('screen'),
  deleteScreenSchedule: removeSchedule('screen'),
  putVenueSchedule: putSchedule('venue'),
  getVenueSchedule: getSchedule('venue'),
  deleteVenueSchedule: removeSchedule('venue'),
  putTakeover: put('/v1/screens/:id/takeover', 'operator', {
    summary: 'Show something on a screen above everything else, until it ends by itself',
    revision: true,
    record: 'screen',
    body: 'takeoverInput',
    partLimit: 50_000,
    answer: 'takeover',
    errors: ['media_not_found', 'playlist_quota_exceeded'],
    command: ['takeover', 'set'],
  }),
  getTakeover: get('/v1/screens/:id/takeover', 'viewer', {
    summary: 'Get the takeover of a screen',
    revision: true,
    record: 'screen',
    answer: 'takeover',
    errors: ['takeover_not_found'],
    command: ['takeover', 'get'],
  }),
  deleteTakeover: remove('/v1/screens/:id/takeover', 'operator', {
    summary: 'End the takeover of a screen',
    revision: true,
    record: 'screen',
    command: ['takeover', 'clear'],
  }),
  explainScreen: get('/v1/screens/:id/explain', 'viewer', {
    summary: 'Explain what a screen plays at a time, and why',
    record: 'screen',
    query: 'explainQuery',
    answer: 'explanation',
  }),
} satisfies Record<string, Operation>;
