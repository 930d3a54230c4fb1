import { defineCommand } from '../../command/spec.ts';
import { readLabels } from '../../options/labels.ts';
import * as option from '../../options/option.ts';
import { venueView } from '../../records/views/place-views.ts';

export const command = defineCommand({
  summary: 'Create a venue',
  options: {
    name: option.required('--name <name>', 'its name, unique in the tenant'),
    address: option.text('--address <text>', 'where it is'),
    timezone: option.text('--timezone <zone>', 'its time zone, such as Europe/Berlin'),
    label: option.repeated('--label <key=value>', 'a label'),
  },
  examples: [
    ['signage venue create --name Lobby', 'only the name is required'],
    [
      'signage venue create --name Lobby --timezone Europe/Berlin --label region=north',
      'with a time zone and a label',
    ],
    ['signage venue create --name Lobby -o json --jq .id', 'for scripts: prints the id alone'],
  ],
  operation: 'createVenue',
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage venue get {name}' },
  async run(call) {
    const { name, address, timezone, label } = call.options;
    const body = {
      name,
      ...(address !== undefined && { address }),
      ...(timezone !== undefined && { timezone }),
      labels: readLabels(label),
    };
    const made = await call.change('createVenue', { body });
    if (made) await call.results.record(made.answer, venueView);
  },
});
