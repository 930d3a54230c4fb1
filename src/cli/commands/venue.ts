import { noteAbsentLabels, readLabelChanges, readLabels } from '../input/labels.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { defineCommand, one } from '../program/spec.ts';
import { findVenue } from '../records/find.ts';
import { changeFlags, givesPlaceText, placeBody, placeOptions } from '../records/place-members.ts';
import { venueView } from '../records/views/place-views.ts';

const create = defineCommand({
  summary: 'Create a venue',
  options: {
    name: option.required('--name <name>', 'its name, unique in the tenant'),
    ...placeOptions('venue', 'create'),
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
  effect: 'changes',
  hints: { name_taken: 'It already exists: signage venue get {name}' },
  async run(call) {
    const { name, label } = call.options;
    const body = { name, ...placeBody('venue', call.options), labels: readLabels(label) };
    const made = await call.change('createVenue', { body });
    if (made) await call.results.record(made.answer, venueView);
  },
});

const list = defineCommand({
  summary: 'List venues',
  options: { search: option.text('--search <text>', 'only names that contain this text') },
  examples: [
    ['signage venue list', 'all'],
    [
      'signage venue list --search berlin -o wide',
      'venues by part of their name, with all columns',
    ],
    ['signage venue list -o name', 'only the names, one per line'],
  ],
  list: true,
  async run(call) {
    await call.list('listVenues', venueView, { query: call.options });
  },
});

const get = defineCommand({
  summary: 'Show a venue',
  arguments: { venue: one('its id or name', 'venue') },
  examples: [
    ['signage venue get Lobby', 'by its name'],
    ['signage venue get Lobby -o json --jq .timezone', 'one field'],
  ],
  async run(call) {
    await call.results.record(await findVenue(call, call.args.venue), venueView);
  },
});

const update = defineCommand({
  summary: 'Change a venue',
  description: 'Fields that you do not name are not changed.',
  arguments: { venue: one('its id or name', 'venue') },
  options: {
    name: option.text('--name <name>', 'the new name'),
    ...placeOptions('venue', 'update'),
    label: option.repeated('--label <key=value>', 'set a label; key- removes it'),
  },
  examples: [
    ['signage venue update Lobby --name "Main lobby"', 'a new name'],
    [
      'signage venue update Lobby --hours "mon-fri 08:00-18:00, 2026-12-24 08:00-14:00, 2026-12-25 off"',
      'dark screens of a closed venue are asleep',
    ],
    [
      'signage venue update Lobby --timezone "" --label region=north --label floor-',
      'removes the time zone and a label, sets a label',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { name, label } = call.options;
    const labels = label.length > 0 ? readLabelChanges(label) : undefined;
    if (name === undefined && labels === undefined && !givesPlaceText('venue', call.options))
      throw usage(`Nothing to change. Give ${changeFlags('venue')}.`);
    const found = await findVenue(call, call.args.venue);
    const { id, labels: present } = found;
    noteAbsentLabels(call.note, present, labels ?? {});
    const body = { name, ...placeBody('venue', call.options, found), labels };
    const made = await call.change('updateVenue', { params: { id }, body });
    if (made) await call.results.record(made.answer, venueView);
  },
});

const remove = defineCommand({
  summary: 'Delete a venue without screens',
  arguments: { venue: one('its id or name', 'venue') },
  examples: [
    ['signage venue delete Lobby', 'asks first'],
    ['signage venue delete Lobby --yes', 'for scripts: does not ask first'],
  ],
  effect: 'destroys',
  hints: { venue_not_empty: 'Delete its screens first: signage screen list --venue {venue}' },
  async run(call) {
    const { id, name } = await findVenue(call, call.args.venue);
    await call.confirmDestruction(`Delete the venue "${name}"?`);
    const made = await call.change('deleteVenue', { params: { id } });
    if (made) call.note(`Deleted the venue "${name}".`);
  },
});

export const venue = { create, list, get, update, delete: remove };
