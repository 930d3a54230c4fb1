import { isDeepStrictEqual } from 'node:util';
import { hasCode, SignageError } from '../../domain/error.ts';
import { isGuid } from '../../domain/id.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import type { ServiceReader } from '../connection/client.ts';
import { preconditionOf, untilStored } from '../connection/conditional.ts';
import {
  type Assignment,
  type ConfigTree,
  listAssignments,
  readPath,
  withoutKey,
} from '../input/config-path.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { member, type View } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { isData } from '../terminal/format.ts';
import { findScreen, findTenant, findVenue, orUndefined } from './find.ts';

const levels = ['screen', 'venue', 'tenant'] as const;

/** The option `--level` of all config commands. Default: screen. */
export const levelOption = option.choice(
  levels,
  '--level <level>',
  'level of the config (default: screen)',
);

/** Level and id of the screen, venue or tenant that has a config. */
interface OwnerId {
  level: ConfigLevel;
  id: string;
}

/** The screen, venue or tenant that has a config. */
export interface LevelOwner extends OwnerId {
  /** For messages: `the screen "Lobby/Main"`. */
  what: string;
}

const sameName = (one: string | null, other: string) =>
  one?.normalize('NFC').toLowerCase() === other.normalize('NFC').trim().toLowerCase();

/**
 * Finds a tenant. Default: the tenant of the token, or of `--tenant`. Only a platform token may
 * look up another tenant.
 */
async function tenantOwner(reader: ServiceReader, name: string | undefined): Promise<LevelOwner> {
  const owner = (id: string, shownName: string) =>
    ({ level: 'tenant', id, what: `the tenant "${shownName}"` }) as const;
  if (name !== undefined && isGuid(name)) return owner(name, name);
  const { tenantId, tenantName } = await reader.read('getMe');
  if (tenantId !== null && (name === undefined || sameName(tenantName, name)))
    return owner(tenantId, tenantName ?? tenantId);
  if (name === undefined)
    throw new SignageError('tenant_required', 'There are several tenants: name one of them.');
  const tenant = await findTenant(reader, name);
  return owner(tenant.id, tenant.name);
}

/** Finds the owner of a config. Throws `usage` when a name is missing. */
export async function findOwner(
  reader: ServiceReader,
  level: ConfigLevel = 'screen',
  name: string | undefined,
): Promise<LevelOwner> {
  if (level === 'tenant') return tenantOwner(reader, name);
  if (name === undefined) throw usage(`Name the ${level}.`);
  const find = level === 'venue' ? findVenue : findScreen;
  const { id } = await find(reader, name).catch((error: unknown) => {
    if (!hasCode(error, `${level}_not_found`)) throw error;
    const hint = `${error.hint ?? ''} --level says whether it is a screen, a venue or the tenant.`;
    throw new SignageError(error.code, error.message, { hint: hint.trim() });
  });
  return { level, id, what: `the ${level} "${name}"` };
}

const operations = {
  screen: { get: 'getScreenConfig', put: 'putScreenConfig', delete: 'deleteScreenConfig' },
  venue: { get: 'getVenueConfig', put: 'putVenueConfig', delete: 'deleteVenueConfig' },
  tenant: { get: 'getTenantConfig', put: 'putTenantConfig', delete: 'deleteTenantConfig' },
} as const;

/** Returns the stored config. Throws `config_not_found` if there is none. */
export async function getConfig(reader: ServiceReader, owner: OwnerId): Promise<ConfigTree> {
  return (await getConfigWithEtag(reader, owner)).answer;
}

/** Returns the stored config with its ETag. Throws `config_not_found` if there is none. */
export function getConfigWithEtag(
  reader: ServiceReader,
  { level, id }: OwnerId,
): Promise<{ answer: ConfigTree; etag: string | undefined }> {
  return reader.readWithEtag(operations[level].get, { params: { id } });
}

/**
 * Reads the stored config, or `{}` if there is none, and stores the result of `change`. If the
 * result is `null`, deletes the config. Starts again if another caller has changed the config
 * meanwhile, so that no change is lost (docs/protocol.md §5.10). Returns `undefined` under
 * `--dry-run`.
 */
export async function changeConfig(
  call: CommandContext,
  { level, id }: OwnerId,
  change: (stored: ConfigTree) => ConfigTree | null,
): Promise<{ config: ConfigTree | null } | undefined> {
  const params = { id };
  const read = () => orUndefined(getConfigWithEtag(call, { level, id }), 'config_not_found');
  let sent: ConfigTree | null = null;
  return untilStored(await read(), {
    read,
    async write(stored) {
      sent = change(stored?.answer ?? {});
      const headers = preconditionOf(stored ? stored.etag : null);
      if (sent === null) {
        const deleted = await call.change(operations[level].delete, { params, headers });
        return deleted && { config: null };
      }
      const made = await call.change(operations[level].put, { params, body: sent, headers });
      return made && { config: made.answer };
    },
    resultOf: (stored) =>
      isDeepStrictEqual(stored?.answer ?? null, sent) ? { config: sent } : undefined,
  });
}

/**
 * Removes settings. Throws `config_not_found` if one of them is not set. With `needsAll: false`,
 * throws it only if all are missing.
 */
export function removeKeys(
  call: CommandContext,
  owner: LevelOwner,
  keys: readonly string[],
  { needsAll }: { needsAll: boolean },
): Promise<{ config: ConfigTree | null } | undefined> {
  return changeConfig(call, owner, (stored) => {
    const absent = keys.filter((key) => !withoutKey(stored, readPath(key)));
    if (absent.length > 0 && (needsAll || absent.length === keys.length))
      throw new SignageError('config_not_found', `"${absent[0]}" is not set for ${owner.what}.`, {
        hint: 'signage config get shows what is set.',
      });
    const left = keys.reduce((config, key) => withoutKey(config, readPath(key)) ?? config, stored);
    return Object.keys(left).length > 0 ? left : null;
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
