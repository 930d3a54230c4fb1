import { hasCode, SignageError } from '../../domain/error.ts';
import type { Reader } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';
import { isData } from '../options/format.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';
import { member, type View } from '../output/view.ts';
import { findScreen, findTenant, findVenue } from '../records/find.ts';
import { isUuid } from '../records/names.ts';
import { type Assignment, type ConfigTree, listAssignments, readPath, withoutKey } from './path.ts';

const levels = ['screen', 'venue', 'tenant'] as const;
export type Level = (typeof levels)[number];

/** The option `--level` of all config commands. Default: screen. */
export const levelOption = option.choice(
  levels,
  '--level <level>',
  'level of the config (default: screen)',
);

/** Level and id of the screen, venue or tenant that has a config. */
interface OwnerId {
  level: Level;
  id: string;
}

/** The screen, venue or tenant that has a config. */
export interface Owner extends OwnerId {
  /** For messages: `the screen "Lobby/Main"`. */
  what: string;
}

const sameName = (one: string | null, other: string) =>
  one?.normalize('NFC').toLowerCase() === other.normalize('NFC').trim().toLowerCase();

/**
 * Finds a tenant. Default: the tenant of the token, or of `--tenant`. Only a platform token may
 * look up another tenant.
 */
async function tenantOwner(reader: Reader, name: string | undefined): Promise<Owner> {
  const owner = (id: string, shownName: string) =>
    ({ level: 'tenant', id, what: `the tenant "${shownName}"` }) as const;
  if (name !== undefined && isUuid(name)) return owner(name, name);
  const { tenantId, tenantName } = await reader.read('getMe');
  if (tenantId !== null && (name === undefined || sameName(tenantName, name)))
    return owner(tenantId, tenantName ?? tenantId);
  if (name === undefined)
    throw new SignageError('tenant_required', 'There are several tenants: name one of them.');
  const tenant = await findTenant(reader, name);
  return owner(tenant.id, tenant.name);
}

/**
 * Returns the error for a name that no record of the level has. If another level has it, the hint
 * is the flag of that level.
 */
async function notFoundAt(
  reader: Reader,
  { level, name, error }: { level: 'screen' | 'venue'; name: string; error: unknown },
): Promise<unknown> {
  if (!hasCode(error, `${level}_not_found`) || isUuid(name)) return error;
  const other = level === 'venue' ? 'screen' : 'venue';
  const find = other === 'venue' ? findVenue : findScreen;
  // The look-up is only for the hint: its failure must not replace the error.
  const isOther = await find(reader, name).then(
    () => true,
    () => false,
  );
  if (!isOther) return error;
  const hint = `"${name}" is a ${other}. Give --level ${other}.`;
  return new SignageError(error.code, error.message, { hint });
}

/** Finds the owner of a config. Throws `usage` when a name is missing. */
export async function findOwner(
  reader: Reader,
  level: Level = 'screen',
  name: string | undefined,
): Promise<Owner> {
  if (level === 'tenant') return tenantOwner(reader, name);
  if (name === undefined) throw usage(`Name the ${level}.`);
  const find = level === 'venue' ? findVenue : findScreen;
  const { id } = await find(reader, name).catch(async (error: unknown) => {
    throw await notFoundAt(reader, { level, name, error });
  });
  return { level, id, what: `the ${level} "${name}"` };
}

const operations = {
  screen: { get: 'getScreenConfig', put: 'putScreenConfig', delete: 'deleteScreenConfig' },
  venue: { get: 'getVenueConfig', put: 'putVenueConfig', delete: 'deleteVenueConfig' },
  tenant: { get: 'getTenantConfig', put: 'putTenantConfig', delete: 'deleteTenantConfig' },
} as const;

/** Returns the stored config. Throws `config_not_found`. */
export async function getConfig(reader: Reader, owner: OwnerId): Promise<ConfigTree> {
  return (await getConfigWithEtag(reader, owner)).answer;
}

/** Returns the stored config with its ETag. Throws `config_not_found`. */
export function getConfigWithEtag(
  reader: Reader,
  { level, id }: OwnerId,
): Promise<{ answer: ConfigTree; etag: string | undefined }> {
  return reader.readWithEtag(operations[level].get, { params: { id } });
}

const maxAttempts = 10;

interface ConfigChange {
  /** Returns the new config, or `null` to delete the stored one. */
  change(stored: ConfigTree): ConfigTree | null;
  /** Throws `config_not_found` if no config is stored. Default: begins with an empty one. */
  mustExist?: boolean;
}

/**
 * Reads the stored config, and stores what `change` makes of it. Starts again if another caller has
 * changed the config meanwhile, so that no change is lost (docs/protocol.md §5.10). Returns
 * `undefined` under `--dry-run`.
 */
export async function changeConfig(
  call: CommandContext,
  { level, id }: OwnerId,
  { change, mustExist = false }: ConfigChange,
): Promise<{ config: ConfigTree | null } | undefined> {
  const params = { id };
  for (let attempt = 1; ; attempt++) {
    const stored = await getConfigWithEtag(call, { level, id }).catch((error: unknown) => {
      if (hasCode(error, 'config_not_found') && !mustExist) return undefined;
      throw error;
    });
    const body = change(stored?.answer ?? {});
    const headers: Record<string, string> = stored
      ? { 'If-Match': stored.etag ?? '*' }
      : { 'If-None-Match': '*' };
    try {
      if (body === null) {
        const deleted = await call.change(operations[level].delete, { params, headers });
        return deleted && { config: null };
      }
      const made = await call.change(operations[level].put, { params, body, headers });
      return made && { config: made.answer };
    } catch (error) {
      if (!hasCode(error, 'precondition_failed') || attempt === maxAttempts) throw error;
    }
  }
}

function without(config: ConfigTree, key: string, { what }: Owner): ConfigTree {
  const left = withoutKey(config, readPath(key));
  if (left) return left;
  throw new SignageError('config_not_found', `"${key}" is not set for ${what}.`, {
    hint: 'signage config get shows what is set.',
  });
}

/** Removes settings. Throws `config_not_found` if one is not set. */
export function removeKeys(
  call: CommandContext,
  owner: Owner,
  keys: readonly string[],
): Promise<{ config: ConfigTree | null } | undefined> {
  return changeConfig(call, owner, {
    mustExist: true,
    change(stored) {
      const left = keys.reduce((config, key) => without(config, key, owner), stored);
      return Object.keys(left).length > 0 ? left : null;
    },
  });
}

/**
 * Replaces the stored config and returns the new one, or `undefined` under `--dry-run`. `headers`
 * may have a precondition.
 */
export async function putConfig(
  call: CommandContext,
  { level, id }: OwnerId,
  body: ConfigTree,
  headers: Record<string, string> = {},
): Promise<ConfigTree | undefined> {
  return (await call.change(operations[level].put, { params: { id }, body, headers }))?.answer;
}

/** Deletes the stored config. Returns false under `--dry-run`. `headers` is as in `putConfig`. */
export async function deleteConfig(
  call: CommandContext,
  { level, id }: OwnerId,
  headers: Record<string, string> = {},
): Promise<boolean> {
  return (await call.change(operations[level].delete, { params: { id }, headers })) !== undefined;
}

const assignmentView: View<Assignment> = {
  columns: [member('key'), member('value')],
  nameOf: ({ key }) => key,
};
/** Only `--fields` uses this view, and replaces its columns. */
const configView: View<ConfigTree> = { columns: [], nameOf: () => '' };

/**
 * Prints a config. For `json`, `ndjson`, `yaml`, `--jq` and `--fields`, prints it as one record.
 * Otherwise prints one row for each key, in the form that `config set` takes.
 */
export async function showConfig(
  { common, results }: CommandContext,
  config: ConfigTree,
): Promise<void> {
  const { output, jq, fields } = common;
  if (jq !== undefined || fields !== undefined || isData(output))
    return results.record(config, configView);
  await results.list([listAssignments(config)], assignmentView);
}
