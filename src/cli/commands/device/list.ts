import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { findScreen, findVenue } from '../../records/find.ts';
import { devicesOfScreenView, devicesView } from '../../records/views/device-view.ts';

export const command = defineCommand({
  summary: 'List devices',
  description: 'Devices that were revoked are listed, too: --state bound leaves them out.',
  options: {
    venue: option.text('--venue <venue>', 'those on screens of this venue, by id or name', 'venue'),
    screen: option.text('--screen <screen>', 'those that are, or were, on this screen', 'screen'),
    state: option.choice(['bound', 'suspended'], '--state <state>', 'those in this state'),
    online: option.flag('--online', 'those that are online'),
    offline: option.flag('--offline', 'those that are not'),
  },
  examples: [
    ['signage device list', 'all of them'],
    [
      'signage device list --venue Lobby --state bound --offline',
      'the TVs of a venue that should be there and are not',
    ],
    [
      'signage device list --screen Lobby/Main -o wide',
      'those that a screen has and had, with all there is',
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
