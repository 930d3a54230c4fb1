import { SignageError } from '../../../domain/error.ts';
import { defineCommand, optional } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import {
  deleteConfig,
  findOwner,
  getConfig,
  levelOption,
  type Owner,
  putConfig,
} from '../../tenant-config/level.ts';
import { type ConfigTree, readPath, withoutKey } from '../../tenant-config/path.ts';
import { showConfig } from '../../tenant-config/show.ts';

function without(config: ConfigTree, key: string, { what }: Owner): ConfigTree {
  const left = withoutKey(config, readPath(key));
  if (left) return left;
  throw new SignageError('config_not_found', `"${key}" is not set for ${what}.`, {
    hint: 'signage config get shows what is set.',
  });
}

export const command = defineCommand({
  summary: 'Remove settings of a screen, a venue or the tenant',
  description: `Removes all settings, or with --key only the named ones. TVs then use the next
higher level, or the default.`,
  arguments: {
    name: optional(
      'the screen, venue or tenant, by id or name; optional with --level tenant',
      'screen',
    ),
  },
  options: {
    level: levelOption,
    key: option.repeated('--key <key>', 'only this setting, such as cachePolicy.maxSizeGB'),
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
  operation: ['deleteScreenConfig', 'deleteVenueConfig', 'deleteTenantConfig'],
  effect: 'destroys',
  async run(call) {
    const { level, key } = call.options;
    const owner = await findOwner(call, level, call.args.name);
    if (key.length === 0) {
      await call.confirmDestruction(`Remove all settings of ${owner.what}?`);
      if (await deleteConfig(call, owner)) call.note(`Removed all settings of ${owner.what}.`);
      return;
    }
    const left = key.reduce(
      (config, one) => without(config, one, owner),
      await getConfig(call, owner),
    );
    if (Object.keys(left).length > 0) {
      const config = await putConfig(call, owner, left);
      if (config) await showConfig(call, config);
    } else if (await deleteConfig(call, owner)) {
      call.note(`Removed the last settings of ${owner.what}.`);
    }
  },
});
