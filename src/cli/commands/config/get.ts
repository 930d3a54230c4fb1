import { defineCommand, optional } from '../../command/spec.ts';
import { findOwner, getConfig, levelOption } from '../../tenant-config/level.ts';
import { showConfig } from '../../tenant-config/show.ts';

export const command = defineCommand({
  summary: 'Show the stored config of a screen, a venue or the tenant',
  description: `A TV gets the default config, overridden by the configs of its tenant, its venue and
its screen, in this order. This command shows one of these three.`,
  arguments: {
    name: optional(
      'the screen, venue or tenant, by id or name; optional with --level tenant',
      'screen',
    ),
  },
  options: { level: levelOption },
  examples: [
    ['signage config get Lobby/Main', 'the config of a screen'],
    ['signage config get Lobby --level venue -o json', 'the config of a venue'],
    ['signage config get --level tenant', 'the config of the tenant'],
  ],
  operation: ['getScreenConfig', 'getVenueConfig', 'getTenantConfig'],
  effect: 'reads',
  async run(call) {
    const owner = await findOwner(call, call.options.level, call.args.name);
    await showConfig(call, await getConfig(call, owner));
  },
});
