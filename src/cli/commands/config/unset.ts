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
    hint: 'signage config get shows what is.',
  });
}

export const command = defineCommand({
  summary: 'Remove what is stored for a screen, a venue or the tenant',
  description:
    'All of it, or with --key single settings. What is stored above, or the default, is in force then.',
  arguments: {
    name: optional(
      'the screen, venue or tenant, by id or name; for the tenant itself it may be left out',
      'screen',
    ),
  },
  options: {
    level: levelOption,
    key: option.repeated('--key <key>', 'only this setting, such as cachePolicy.maxSizeGB'),
  },
  examples: [
    ['signage config unset Lobby/Main', 'all of it; asks first'],
    [
      'signage config unset Lobby --level venue --key cachePolicy.maxSizeGB --key volume',
      'two settings of a venue',
    ],
    [
      'signage config unset --level tenant --yes',
      'all that is stored for the tenant, without a question',
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
      call.note(`Nothing is set for ${owner.what} any more.`);
    }
  },
});
