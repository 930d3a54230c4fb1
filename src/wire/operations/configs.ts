import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { Operation } from '../operation.ts';

const putConfig = <L extends ConfigLevel>(level: L) =>
  ({
    method: 'PUT',
    path: `/v1/${level}s/:id/config`,
    access: 'operator',
    summary: `Set the config of a ${level}`,
    record: level,
    body: 'configBody',
    bodyLimit: 16 * 1024,
    partLimit: 50_000,
    status: 200,
    answer: 'configBody',
    command: ['config', 'set'],
  }) as const satisfies Operation;

const getConfig = <L extends ConfigLevel>(level: L) =>
  ({
    method: 'GET',
    path: `/v1/${level}s/:id/config`,
    access: 'viewer',
    summary: `The config stored for a ${level}, as it is`,
    record: level,
    status: 200,
    answer: 'configBody',
    errors: ['config_not_found'],
    command: ['config', 'get'],
  }) as const satisfies Operation;

const deleteConfig = <L extends ConfigLevel>(level: L) =>
  ({
    method: 'DELETE',
    path: `/v1/${level}s/:id/config`,
    access: 'operator',
    summary: `Remove the config stored for a ${level}`,
    record: level,
    status: 204,
    command: ['config', 'unset'],
  }) as const satisfies Operation;

/** The stored config of each level (docs/protocol.md §5.4). */
export const configOperations = {
  putScreenConfig: putConfig('screen'),
  getScreenConfig: getConfig('screen'),
  deleteScreenConfig: deleteConfig('screen'),
  putVenueConfig: putConfig('venue'),
  getVenueConfig: getConfig('venue'),
  deleteVenueConfig: deleteConfig('venue'),
  putTenantConfig: putConfig('tenant'),
  getTenantConfig: getConfig('tenant'),
  deleteTenantConfig: deleteConfig('tenant'),
} as const;
