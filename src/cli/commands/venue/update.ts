import { defineCommand, one } from '../../command/spec.ts';
import { readLabelChanges } from '../../options/labels.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { findVenue } from '../../records/find.ts';
import { venueView } from '../../records/views/place-views.ts';

const orNull = (text: string) => (text === '' ? null : text);

export const command = defineCommand({
  summary: 'Change a venue',
  description: 'Fields that you do not name are not changed.',
  arguments: { venue: one('its id or name', 'venue') },
  options: {
    name: option.text('--name <name>', 'the new name'),
    address: option.text('--address <text>', 'where it is; empty removes it'),
    timezone: option.text(
      '--timezone <zone>',
      'its time zone, such as Europe/Berlin; empty removes it',
    ),
    label: option.repeated('--label <key=value>', 'set a label; key- removes it'),
  },
  examples: [
    ['signage venue update Lobby --name "Main lobby"', 'a new name'],
    [
      'signage venue update Lobby --timezone "" --label region=north --label floor-',
      'removes the time zone and a label, sets a label',
    ],
  ],
  operation: 'updateVenue',
  effect: 'changes',
  async run(call) {
    const { name, address, timezone, label } = call.options;
    const body = {
      ...(name !== undefined && { name }),
      ...(address !== undefined && { address: orNull(address) }),
      ...(timezone !== undefined && { timezone: orNull(timezone) }),
      ...(label.length > 0 && { labels: readLabelChanges(label) }),
    };
    if (Object.keys(body).length === 0)
      throw usage('Nothing to change. Give --name, --address, --timezone or --label.');
    const { id } = await findVenue(call, call.args.venue);
    const made = await call.change('updateVenue', { params: { id }, body });
    if (made) await call.results.record(made.answer, venueView);
  },
});
