import { campaignOperations } from './campaigns.ts';
import { configOperations } from './configs.ts';
import { devicesOperations } from './devices.ts';
import { loginOperations } from './logins.ts';
import { mediaOperations } from './media.ts';
import { placesOperations } from './places.ts';
import { platformOperations } from './platform.ts';
import { playlistOperations } from './playlists.ts';
import { readingOperations } from './reports.ts';
import { runtimeOperations } from './runtime.ts';
import { scheduleOperations } from './schedules.ts';
import { statementOperations } from './statements.ts';
import { webhookOperations } from './webhooks.ts';

export type { Operation, RecordKind } from '../operation.ts';

/**
 * Every operation of the API. Routes, authorisation, OpenAPI, clients and commands are made from
 * this table.
 */
export const operations = {
  ...runtimeOperations,
  ...devicesOperations,
  ...platformOperations,
  ...loginOperations,
  ...placesOperations,
  ...playlistOperations,
  ...scheduleOperations,
  ...mediaOperations,
  ...configOperations,
  ...readingOperations,
  ...campaignOperations,
  ...statementOperations,
  ...webhookOperations,
};

export type Operations = typeof operations;
export type OperationId = keyof Operations;
