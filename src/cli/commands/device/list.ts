import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, findVenue } from '../../records/find.ts';
import { devicesOfScreenView, devicesView } from '../../records/views/device-views.ts';

export const command = defineCommand({
  summary: 'List devices',
  description: 'The list includes revoked devices. --state bound leaves them out.',
  options: {
    venue: option.text('--venue <venue>', 'only devices of this venue, by id or name', 'venue'),
    screen: option.text(
      '--screen <screen>',
      'only devices that are or were on this screen',
      'screen',
    ),
    state: option.choice(['bound', 'suspended'], '--state <state>', 'only devices in this state'),
    online: option.flag('--online', 'only devices that are online'),
    offline: option.flag('--offline', 'only devices that are offline'),
  },
  examples: [
    ['signage device list', 'all'],
    [
      'signage device list --venue Lobby --state bound --offline',
      'the paired TVs of a venue that are offline',
    ],
    [
      'signage device list --screen Lobby/Main -o wide',
      'current and former devices of a screen, with all columns',
    ],
  ],
  operation: 'listDevices',
  effect: 'reads',
  list: true,
  async run(call) {
    const { venue, screen, state, online, offline } = call.options;
    if (online && offline) throw usage('Give --online or --offline, not both.');
    const venueId = venue === undefined ? undefined : (await findVenue(call, venue)).id;
    const screenId = screen === undefined ? undefined : (await findScreen(call, screen)).id;
    const query = {
      ...(venueId !== undefined && { venueId }),
      ...(screenId !== undefined && { screenId }),
      ...(state !== undefined && { state }),
      ...((online || offline) && { online: online ? ('true' as const) : ('false' as const) }),
    };
    await call.list(
      'listDevices',
      screenId === undefined ? devicesView(call, venueId) : devicesOfScreenView(call, screenId),
      { query },
    );
  },
});
