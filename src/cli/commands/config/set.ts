import { SignageError } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand, optional, some } from '../../command/spec.ts';
import { readDocument } from '../../options/input-file.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { findOwner, getConfigIfAny, levelOption, putConfig } from '../../tenant-config/level.ts';
import {
  type ConfigTree,
  isConfigTree,
  mergeConfigs,
  readAssignment,
} from '../../tenant-config/path.ts';
import { showConfig } from '../../tenant-config/show.ts';

async function readFile({ io }: CommandContext, file: string | undefined): Promise<ConfigTree> {
  const document = file === undefined ? {} : await readDocument(io, file);
  if (isConfigTree(document)) return document;
  throw new SignageError(
    'invalid_file',
    'A config is an object, such as { "syncIntervalMinutes": 10 }.',
  );
}

export const command = defineCommand({
  summary: 'Change settings of a screen, a venue or the tenant',
  description: `Settings that you do not name are kept unless you give --replace. TVs get the change
when they next fetch their config.

Values are read as JSON; anything else is text. A dot separates nested keys:
cachePolicy.maxSizeGB=20`,
  arguments: {
    name: optional(
      'the screen, venue or tenant, by id or name; optional with --level tenant',
      'screen',
    ),
    settings: some('key=value'),
  },
  options: {
    level: levelOption,
    file: option.text(
      '-f, --file <file>',
      'file with settings, JSON or YAML; - reads stdin; settings on the command line override it',
    ),
    replace: option.flag('--replace', 'replace the whole stored config'),
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
  ],
  operation: ['putScreenConfig', 'putVenueConfig', 'putTenantConfig'],
  effect: 'changes',
  async run(call) {
    const { level, file, replace } = call.options;
    const { name, settings } = call.args;
    // Without a name, the first setting is parsed as the name argument.
    const isAlone = settings.length === 0 && file === undefined;
    const isNamed = name !== undefined && !(name.includes('=') && (level === 'tenant' || isAlone));
    const assignments = name === undefined || isNamed ? settings : [name, ...settings];
    if (assignments.length === 0 && file === undefined)
      throw usage('Nothing to set. Give key=value, or -f.');
    const wanted = assignments.map(readAssignment).reduce(mergeConfigs, await readFile(call, file));
    const owner = await findOwner(call, level, isNamed ? name : undefined);
    const stored = replace ? undefined : await getConfigIfAny(call, owner);
    const config = await putConfig(call, owner, mergeConfigs(stored ?? {}, wanted));
    if (config) await showConfig(call, config);
  },
});
