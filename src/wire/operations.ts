import { configOperations } from './operations/configs.ts';
import { devicesOperations } from './operations/devices.ts';
import { mediaOperations } from './operations/media.ts';
import { placesOperations } from './operations/places.ts';
import { platformOperations } from './operations/platform.ts';
import { playlistOperations } from './operations/playlists.ts';
import { readingOperations } from './operations/reports.ts';
import { runtimeOperations } from './operations/runtime.ts';
import { scheduleOperations } from './operations/schedules.ts';
import { webhookOperations } from './operations/webhooks.ts';

export type { Operation, RecordKind } from './operation.ts';

/**
 * Every operation of the API. Routes, authorisation, OpenAPI, clients and commands are made from
 * this table.
 */
export const operations = {
  ...runtimeOperations,
  ...devicesOperations,
  ...platformOperations,
  ...placesOperations,
  ...playlistOperations,
  ...scheduleOperations,
  ...mediaOperations,
  ...configOperations,
  ...readingOperations,
  ...webhookOperations,
};

export type Operations = typeof operations;
export type OperationId = keyof Operations;
