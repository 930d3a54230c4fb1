import { hasCode, SignageError } from '../../domain/error.ts';
import type { Reader } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';
import { findScreen, findTenant, findVenue } from '../records/find.ts';
import { isUuid } from '../records/uuid.ts';
import type { ConfigTree } from './path.ts';

const levels = ['screen', 'venue', 'tenant'] as const;
export type Level = (typeof levels)[number];

/** The option of all config commands; a screen's config unless it is given. */
export const levelOption = option.choice(
  levels,
  '--level <level>',
  'whose config, that of a screen unless given',
);

/** Whose config it is. */
export interface Owner {
  level: Level;
  id: string;
  /** For people: `the screen "Lobby/Main"`. */
  what: string;
}

const sameName = (one: string | null, other: string) =>
  one?.normalize('NFC').toLowerCase() === other.normalize('NFC').trim().toLowerCase();

/** The tenant that is acted in, when none is named. Only a platform token may look up another one. */
async function tenantOwner(reader: Reader, name: string | undefined): Promise<Owner> {
  const owner = (id: string, called: string) =>
    ({ level: 'tenant', id, what: `the tenant "${called}"` }) as const;
  if (name !== undefined && isUuid(name)) return owner(name, name);
  const { tenantId, tenantName } = await reader.read('getMe');
  if (tenantId !== null && (name === undefined || sameName(tenantName, name)))
    return owner(tenantId, tenantName ?? tenantId);
  if (name === undefined)
    throw new SignageError('tenant_required', 'There are several tenants: say whose config it is.');
  const tenant = await findTenant(reader, name);
  return owner(tenant.id, tenant.name);
}

/** Finds whose config is meant. Throws `usage` when a name is missing. */
export async function findOwner(
  reader: Reader,
  level: Level = 'screen',
  name: string | undefined,
): Promise<Owner> {
  if (level === 'tenant') return tenantOwner(reader, name);
  if (name === undefined) throw usage(`Name the ${level}.`);
  const { id } = await (level === 'venue' ? findVenue(reader, name) : findScreen(reader, name));
  return { level, id, what: `the ${level} "${name}"` };
}

const operations = {
  screen: { get: 'getScreenConfig', put: 'putScreenConfig', delete: 'deleteScreenConfig' },
  venue: { get: 'getVenueConfig', put: 'putVenueConfig', delete: 'deleteVenueConfig' },
  tenant: { get: 'getTenantConfig', put: 'putTenantConfig', delete: 'deleteTenantConfig' },
} as const;

/** What is stored. Throws `config_not_found`. */
export async function getConfig(reader: Reader, { level, id }: Owner): Promise<ConfigTree> {
  return reader.read(operations[level].get, { params: { id } });
}

/** What is stored; nothing where nothing is. */
export async function getConfigIfAny(
  reader: Reader,
  owner: Owner,
): Promise<ConfigTree | undefined> {
  try {
    return await getConfig(reader, owner);
  } catch (error) {
    if (hasCode(error, 'config_not_found')) return undefined;
    throw error;
  }
}

/** Stores a config in place of what there is; answers it, or `undefined` under `--dry-run`. */
export async function putConfig(
  call: CommandContext,
  { level, id }: Owner,
  body: ConfigTree,
): Promise<ConfigTree | undefined> {
  return (await call.change(operations[level].put, { params: { id }, body }))?.answer;
}

/** Removes what is stored; answers whether it was sent. */
export async function deleteConfig(call: CommandContext, { level, id }: Owner): Promise<boolean> {
  return (await call.change(operations[level].delete, { params: { id } })) !== undefined;
}
