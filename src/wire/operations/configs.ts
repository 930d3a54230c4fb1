import type { ConfigLevel } from '../../domain/records/rows.ts';
import { get, type Operation, put, remove } from '../operation.ts';

const putConfig = <L extends ConfigLevel>(level: L) =>
  put(`/v1/${level}s/:id/config`, 'operator', {
    summary: `Set the config of a ${level}`,
    revision: true,
    record: level,
    body: 'configInput',
    bodyLimit: 16 * 1024,
    partLimit: 50_000,
    answer: 'configBody',
    command: ['config', 'set'],
  });

const getConfig = <L extends ConfigLevel>(level: L) =>
  get(`/v1/${level}s/:id/config`, 'viewer', {
    summary: `Get the stored config of a ${level}`,
    revision: true,
    record: level,
    answer: 'configBody',
    errors: ['config_not_found'],
    command: ['config', 'get'],
  });

const removeConfig = <L extends ConfigLevel>(level: L) =>
  remove(`/v1/${level}s/:id/config`, 'operator', {
    summary: `Remove the stored config of a ${level}`,
    revision: true,
    record: level,
    command: ['config', 'unset'],
  });

/** The stored config of each level (docs/protocol.md §5.4). */
export const configOperations = {
  putScreenConfig: putConfig('screen'),
  getScreenConfig: getConfig('screen'),
  deleteScreenConfig: removeConfig('screen'),
  putVenueConfig: putConfig('venue'),
  getVenueConfig: getConfig('venue'),
  deleteVenueConfig: removeConfig('venue'),
  putTenantConfig: putConfig('tenant'),
  getTenantConfig: getConfig('tenant'),
  deleteTenantConfig: removeConfig('tenant'),
} satisfies Record<string, Operation>;
