import { isDeepStrictEqual } from 'node:util';
import { hasCode } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { forEachRecord } from '../command/for-each-record.ts';
import { confirmDestroyed, confirmSelected, selectScreens } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { type Column, member } from '../output/view.ts';
import {
  changeConfig,
  deleteConfig,
  getConfig,
  type Owner,
  putConfig,
  removeKeys,
} from './level.ts';
import { type ConfigTree, mergeConfigs } from './path.ts';

type NamedOwner = Owner & { name: string };

/** Returns the screens of `--selector` and `--venue` as owners of configs. */
export async function selectOwners(
  call: CommandContext,
  name: string | undefined,
): Promise<NamedOwner[]> {
  const { level } = call.options;
  if (level !== undefined && level !== 'screen')
    throw usage(`--selector and --venue select screens: leave out --level ${level}.`);
  const { screens } = await selectScreens(call, name === undefined ? [] : [name]);
  return screens.map(({ id, name }) => ({
    level: 'screen',
    id,
    name,
    what: `the screen "${name}"`,
  }));
}

/** Runs `change`. Returns `none` if no config, or no such setting, is stored. */
async function unlessNone<T>(change: () => Promise<T>): Promise<T | 'none'> {
  try {
    return await change();
  } catch (error) {
    if (hasCode(error, 'config_not_found')) return 'none';
    throw error;
  }
}

const configColumns: readonly Column<{ config: ConfigTree | null }>[] = [member('config')];

/** Prints the stored config of each screen. */
export function getConfigs(call: CommandContext, owners: readonly NamedOwner[]): Promise<number> {
  const read = async (owner: Owner) => {
    const config = await unlessNone(() => getConfig(call, owner));
    return config === 'none' ? { result: 'none', config: null } : { result: 'stored', config };
  };
  return forEachRecord(call, owners, read, configColumns);
}

/** Merges `wanted` into the config of each screen. With `--replace`, replaces the config. */
export async function setConfigs(
  call: CommandContext,
  owners: readonly NamedOwner[],
  wanted: ConfigTree,
): Promise<number> {
  await confirmSelected(call, 'Change the config of', owners);
  return forEachRecord(call, owners, async (owner) => {
    if (call.options.replace) return (await putConfig(call, owner, wanted)) && 'replaced';
    let isSame = false;
    const change = (stored: ConfigTree) => {
      const merged = mergeConfigs(stored, wanted);
      isSame = isDeepStrictEqual(merged, stored);
      return merged;
    };
    const changed = await changeConfig(call, owner, change);
    return changed && (isSame ? 'unchanged' : 'changed');
  });
}

/**
 * Removes the given keys from the config of each screen, or without keys the whole config. A screen
 * may lack some of the keys, or all.
 */
export async function unsetConfigs(
  call: CommandContext,
  owners: readonly NamedOwner[],
  keys: readonly string[],
): Promise<number> {
  if (keys.length > 0) await confirmSelected(call, 'Remove settings of', owners);
  else await confirmDestroyed(call, 'Remove all settings of', owners);
  return forEachRecord(call, owners, async (owner) => {
    const remove = async () =>
      keys.length > 0
        ? removeKeys(call, owner, keys, { needsAll: false })
        : deleteConfig(call, owner);
    const removed = await unlessNone(remove);
    if (removed === 'none') return 'unchanged';
    return removed ? 'removed' : undefined;
  });
}
