import { isDeepStrictEqual } from 'node:util';
import { hasCode, SignageError } from '../../domain/error.ts';
import { isObject } from '../../domain/json/is-object.ts';
import { type ConfigTree, mergeConfigTrees, readAssignment } from '../input/config-path.ts';
import { readSource } from '../input/input-file.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { type Column, member } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, optional, some } from '../program/spec.ts';
import {
  changeConfig,
  deleteConfig,
  findOwner,
  getConfig,
  type LevelOwner,
  levelOption,
  putConfig,
  removeKeys,
  showConfig,
} from '../records/config-level.ts';
import { orUndefined } from '../records/find.ts';
import { forEachRecord } from '../records/for-each-record.ts';
import {
  confirmDestroyed,
  confirmSelected,
  hasFilter,
  selectionOptions,
  selectScreens,
} from '../records/select-screens.ts';
import { unknownSettings } from '../records/unknown-settings.ts';

type NamedOwner = LevelOwner & { name: string };

/** Returns the screens of `--selector` and `--venue` as owners of configs. */
async function selectOwners(call: CommandContext, name: string | undefined): Promise<NamedOwner[]> {
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

const configColumns: readonly Column<{ config: ConfigTree | null }>[] = [member('config')];

/** Prints the stored config of each screen. */
function getConfigs(call: CommandContext, owners: readonly NamedOwner[]): Promise<number> {
  const read = async (owner: LevelOwner) => {
    const config = await orUndefined(getConfig(call, owner), 'config_not_found');
    return config ? { result: 'stored', config } : { result: 'none', config: null };
  };
  return forEachRecord(call, owners, read, configColumns);
}

/** Merges `wanted` into the config of each screen. With `--replace`, replaces the config. */
async function setConfigs(
  call: CommandContext,
  owners: readonly NamedOwner[],
  wanted: ConfigTree,
): Promise<number> {
  await confirmSelected(call, 'Change the config of', owners);
  return forEachRecord(call, owners, async (owner) => {
    if (call.options.replace) return (await putConfig(call, owner, wanted)) && 'replaced';
    let isSame = false;
    const change = (stored: ConfigTree) => {
      const merged = mergeConfigTrees(stored, wanted);
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
async function unsetConfigs(
  call: CommandContext,
  owners: readonly NamedOwner[],
  keys: readonly string[],
): Promise<number> {
  if (keys.length > 0) await confirmSelected(call, 'Remove settings of', owners);
  else await confirmDestroyed(call, 'Remove all settings of', owners);
  return forEachRecord(call, owners, async (owner) => {
    try {
      const removed =
        keys.length > 0
          ? await removeKeys(call, owner, keys, { needsAll: false })
          : await deleteConfig(call, owner);
      return removed ? 'removed' : undefined;
    } catch (error) {
      if (hasCode(error, 'config_not_found')) return 'unchanged';
      throw error;
    }
  });
}

const ownerArgument = optional(
  'the screen, venue or tenant, by id or name; optional with --level tenant',
  'screen',
);

async function readFile({ io }: CommandContext, file: string | undefined): Promise<ConfigTree> {
  if (file === undefined) return {};
  const source = await readSource(io, file);
  const { parseAsWritten } = await import('../input/check-document.ts');
  const { configBody } = await import('../../domain/records/config.ts');
  // The service names mistakes.
  const { data: document = source.value } = parseAsWritten(configBody, source);
  if (isObject(document)) return document;
  throw new SignageError(
    'invalid_file',
    'A config is an object, such as { "syncIntervalMinutes": 10 }.',
  );
}

const set = defineCommand({
  summary: 'Change settings of a screen, a venue or the tenant',
  description: `Settings that you do not name are kept unless you give --replace. TVs get the change
when they next fetch their config. With several screens, --selector or --venue, it prints one result
for each screen.

Values are read as JSON; anything else is text. A dot separates nested keys:
cachePolicy.maxSizeGB=20`,
  arguments: {
    name: ownerArgument,
    settings: some('key=value'),
  },
  options: {
    level: levelOption,
    file: option.text(
      '-f, --file <file>',
      'file with settings, JSON or YAML; - reads stdin; settings on the command line override it',
    ),
    replace: option.flag('--replace', 'replace the whole stored config'),
    ...selectionOptions,
  },
  examples: [
    ['signage config set Lobby/Main syncIntervalMinutes=10', 'for one screen'],
    [
      'signage config set Lobby --level venue cachePolicy.maxSizeGB=20 volume=0.5',
      'for all screens of a venue',
    ],
    [
      'signage config set --level tenant -f config.yaml --replace',
      'replaces the config of the tenant',
    ],
    ['signage config set --selector role=menu volume=0.5', 'for all screens with a label'],
  ],
  effect: 'changes',
  async run(call) {
    const { level, file, replace } = call.options;
    const { name, settings } = call.args;
    // Without a name, the first setting is parsed as the name argument.
    const isAlone = settings.length === 0 && file === undefined;
    const isMany = hasFilter(call);
    const isNamed =
      name !== undefined && !(name.includes('=') && (level === 'tenant' || isAlone || isMany));
    const assignments = name === undefined || isNamed ? settings : [name, ...settings];
    if (assignments.length === 0 && file === undefined)
      throw usage('Nothing to set. Give key=value, or -f.');
    const wanted = assignments
      .map(readAssignment)
      .reduce(mergeConfigTrees, await readFile(call, file));
    for (const sentence of await unknownSettings(wanted)) call.note(sentence);
    if (isMany) {
      const owners = await selectOwners(call, isNamed ? name : undefined);
      return setConfigs(call, owners, wanted);
    }
    const owner = await findOwner(call, level, isNamed ? name : undefined);
    const config = replace
      ? await putConfig(call, owner, wanted)
      : (await changeConfig(call, owner, (stored) => mergeConfigTrees(stored, wanted)))?.config;
    if (config) await showConfig(call, config);
    return 0;
  },
});

const get = defineCommand({
  summary: 'Show the stored config of a screen, a venue or the tenant',
  description: `A TV gets the default config, overridden by the configs of its tenant, its venue and
its screen, in this order. This command shows the stored config of one level. With --selector or
--venue, it shows the configs of several screens.`,
  arguments: {
    name: ownerArgument,
  },
  options: { level: levelOption, ...selectionOptions },
  examples: [
    ['signage config get Lobby/Main', 'the config of a screen'],
    ['signage config get Lobby --level venue -o json', 'the config of a venue'],
    ['signage config get --level tenant', 'the config of the tenant'],
  ],
  async run(call) {
    if (hasFilter(call)) return getConfigs(call, await selectOwners(call, call.args.name));
    const owner = await findOwner(call, call.options.level, call.args.name);
    await showConfig(call, await getConfig(call, owner));
    return 0;
  },
});

const unset = defineCommand({
  summary: 'Remove settings of a screen, a venue or the tenant',
  description: `Removes all settings, or with --key only the named ones. TVs then use the next
higher level, or the default. With --selector or --venue, it prints one result for each screen.`,
  arguments: {
    name: ownerArgument,
  },
  options: {
    level: levelOption,
    key: option.repeated('--key <key>', 'only this setting, such as cachePolicy.maxSizeGB'),
    ...selectionOptions,
  },
  examples: [
    ['signage config unset Lobby/Main', 'removes all settings; asks first'],
    [
      'signage config unset Lobby --level venue --key cachePolicy.maxSizeGB --key volume',
      'two settings of a venue',
    ],
    [
      'signage config unset --level tenant --yes',
      'removes all settings of the tenant, without asking',
    ],
  ],
  effect: 'destroys',
  async run(call) {
    const { level, key } = call.options;
    if (hasFilter(call)) return unsetConfigs(call, await selectOwners(call, call.args.name), key);
    const owner = await findOwner(call, level, call.args.name);
    if (key.length === 0) {
      await call.confirmDestruction(`Remove all settings of ${owner.what}?`);
      if (await deleteConfig(call, owner)) call.note(`Removed all settings of ${owner.what}.`);
      return 0;
    }
    const changed = await removeKeys(call, owner, key, { needsAll: true });
    if (changed?.config) await showConfig(call, changed.config);
    else if (changed) call.note(`Removed the last settings of ${owner.what}.`);
    return 0;
  },
});

export const config = { set, get, unset };
