import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import {
  type ConfigBody,
  configIds,
  type DeviceConfig,
  effectiveConfig,
} from '../../domain/records/config.ts';
import type {
  ConfigLevel,
  Screen,
  StoredConfig,
  Tenant,
  Venue,
} from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import {
  type AuditChange,
  type Principal,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';
import { lookUp, venuesOf } from '../lookup.ts';

/** The effective config of a screen, and the most specific level that contributes to it. */
export interface EffectiveConfig {
  config: DeviceConfig;
  source: ConfigLevel | 'default';
}

/** A record for which a config can be stored. */
type Owner = Tenant | Venue | Screen;

const tenantOf = (owner: Owner) => ('tenantId' in owner ? owner.tenantId : owner.id);

/** Ids of a screen whose effective config is requested. */
type ConfigOwner = { tenantId: string; venueId: string; screenId: string };

/** Stored configs of the tenant, the venue and the screen. */
export type ConfigLevels = readonly (StoredConfig | undefined)[];

/** Reads the stored configs of all levels. */
export function readConfigLevels(
  owner: ConfigOwner,
  read: (id: string) => Promise<StoredConfig | undefined>,
): Promise<ConfigLevels> {
  return Promise.all(configIds(owner).map(read));
}

/** Merges the stored configs of all levels (docs/protocol.md §2.4). */
export function mergeConfigLevels(levels: ConfigLevels): EffectiveConfig {
  const top = levels[2] ?? levels[1] ?? levels[0];
  return {
    config: effectiveConfig(levels.map((row) => row?.config)),
    source: top?.level ?? 'default',
  };
}

export async function readEffectiveConfig(
  reader: Reader,
  owner: ConfigOwner,
): Promise<EffectiveConfig> {
  return mergeConfigLevels(await readConfigLevels(owner, (id) => reader.get('configs', id)));
}

/** Management of the stored configs of all three levels (docs/protocol.md §5.4). */
export function makeConfigs(deps: ServiceDependencies) {
  const { store } = deps;
  const change = (verb: AuditVerb<'config'>, level: ConfigLevel, owner: Owner): AuditChange => ({
    action: `config.${verb}`,
    subject: { kind: level, id: owner.id },
    tenantId: tenantOf(owner),
    venueIds: venuesOf(level, owner),
  });

  /** Throws `config_not_found`. */
  async function get(principal: Principal, level: ConfigLevel, id: string): Promise<ConfigBody> {
    const owner = await lookUp(store.read, principal, level, id);
    const row = await store.read.get('configs', `${level}/${owner.id}`);
    if (!row)
      throw new SignageError(
        'config_not_found',
        `No config is stored for this ${level}: a higher level or the default applies.`,
      );
    return row.config;
  }

  /** Stores a config. Storing the same config again has no effect. */
  async function put(
    principal: Principal,
    level: ConfigLevel,
    id: string,
    config: ConfigBody,
    precondition: Precondition = {},
  ): Promise<ConfigBody> {
    return deps.write(principal, async (tx) => {
      const owner = await lookUp(tx, principal, level, id);
      const key = `${level}/${owner.id}`;
      const before = await tx.get('configs', key);
      checkPrecondition(precondition, before && revision.config(before.config));
      if (isDeepStrictEqual(before?.config, config)) return config;
      await tx.put('configs', {
        id: key,
        tenantId: tenantOf(owner),
        level,
        ownerId: owner.id,
        config,
        updatedAt: tx.stamp,
      });
      await recordChange(deps, tx, principal, change('set', level, owner));
      return config;
    });
  }

  async function remove(
    principal: Principal,
    level: ConfigLevel,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const owner = await lookUp(tx, principal, level, id);
      const key = `${level}/${owner.id}`;
      const before = await tx.get('configs', key);
      checkPrecondition(precondition, before && revision.config(before.config));
      if (!before) return;
      await tx.delete('configs', key);
      await recordChange(deps, tx, principal, change('unset', level, owner));
    });
  }

  return { get, put, remove };
}
