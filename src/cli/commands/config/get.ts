import { defineCommand, optional } from '../../command/spec.ts';
import { findOwner, getConfig, levelOption } from '../../tenant-config/level.ts';
import { showConfig } from '../../tenant-config/show.ts';

export const command = defineCommand({
  summary: 'Show the config that is stored for a screen, a venue or the tenant',
  description:
    'What a TV gets is the default with the configs of its tenant, its venue and its screen laid over it. This shows one of them as it is stored.',
  arguments: {
    name: optional(
      'the screen, venue or tenant, by id or name; for the tenant itself it may be left out',
      'screen',
    ),
  },
  options: { level: levelOption },
  examples: [
    ['signage config get Lobby/Main', 'what is stored for a screen'],
    ['signage config get Lobby --level venue -o json', 'for a venue'],
    ['signage config get --level tenant', 'for the tenant'],
  ],
  operation: ['getScreenConfig', 'getVenueConfig', 'getTenantConfig'],
  effect: 'reads',
  async run(call) {
    const owner = await findOwner(call, call.options.level, call.args.name);
    await showConfig(call, await getConfig(call, owner));
  },
});
