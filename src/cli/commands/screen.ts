import type { Screen } from '../../client/entities.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import {
  type LabelChanges,
  labelFilters,
  noteAbsentLabels,
  readLabelChanges,
  readLabels,
} from '../input/labels.ts';
import * as option from '../input/option.ts';
import { selectorOption } from '../input/selector.ts';
import { usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, one, some } from '../program/spec.ts';
import { findScreen, findVenue } from '../records/find.ts';
import { forEachRecord } from '../records/for-each-record.ts';
import { screenPath } from '../records/names.ts';
import { listOfVenues, venueIdsOf } from '../records/of-venues.ts';
import {
  changeFlags,
  givesPlaceText,
  hasPlaceTexts,
  type PlaceTexts,
  placeBody,
  placeOptions,
} from '../records/place-members.ts';
import {
  confirmDestroyed,
  confirmSelected,
  isSingle,
  type Selected,
  selectionOptions,
  selectScreens,
  venueOption,
} from '../records/select-screens.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { shellQuote } from '../terminal/text.ts';

/** Returns the venue and the name of a new screen, from `Lobby/Main`. */
function readPlace(given: string): { venue: string; name: string } {
  const slash = given.indexOf('/');
  if (slash > 0 && slash < given.length - 1)
    return { venue: given.slice(0, slash), name: given.slice(slash + 1) };
  throw usage(
    `"${given}" does not say in which venue the new screen is, or how it is called.`,
    'Give VENUE/NAME, such as Lobby/Main.',
  );
}

const create = defineCommand({
  summary: 'Create a screen in a venue',
  arguments: { screen: one('the venue, by id or name, and the name, such as Lobby/Main') },
  options: {
    ...placeOptions('screen', 'create'),
    label: option.repeated('--label <key=value>', 'a label'),
  },
  examples: [
    ['signage screen create Lobby/Main', 'next: signage pair Lobby/Main'],
    ['signage screen create Lobby/Main --label floor=2', 'with a label to select it by'],
    ['signage screen create Lobby/Main -o json --jq .id', 'for scripts: prints the id alone'],
  ],
  effect: 'changes',
  async run(call) {
    const { venue, name } = readPlace(call.args.screen);
    const labels = readLabels(call.options.label);
    const { id: venueId } = await findVenue(call, venue);
    const body = { venueId, name, ...placeBody('screen', call.options), labels };
    const made = await call.change('createScreen', { body }).catch((error: unknown) => {
      if (!hasCode(error, 'name_taken')) throw error;
      const hint = `It already exists: signage screen get ${shellQuote(`${venue}/${name}`)}`;
      throw new SignageError(error.code, error.message, { ...error, cause: error.cause, hint });
    });
    if (made) await call.results.record(made.answer, screensOfVenueView(call, venueId));
  },
});

const list = defineCommand({
  summary: 'List screens',
  options: {
    venue: venueOption('only screens of this venue, by id or name'),
    state: option.choice(
      ['provisioning', 'active'],
      '--state <state>',
      'only screens in this state',
    ),
    label: option.repeated('--label <key=value>', 'only screens with this label'),
    selector: selectorOption('only screens with these labels'),
    search: option.text('--search <text>', 'only names that contain this text'),
  },
  examples: [
    ['signage screen list', 'all'],
    ['signage screen list --venue Lobby --state provisioning', 'screens without a TV'],
    ['signage screen list --label floor=2 -o name', 'names that other commands accept'],
    [
      "signage screen list --selector 'role=menu,floor in (1,2),!test,venue:city=Accra'",
      'by labels of the screen and its venue',
    ],
  ],
  list: true,
  async run(call) {
    const { venue, state, label, selector, search } = call.options;
    const venueIds = await venueIdsOf(call, venue);
    const [venueId, ...others] = venueIds;
    const view =
      venueId === undefined || others.length > 0
        ? screensView(call)
        : screensOfVenueView(call, venueId);
    const query = { state, search, label: labelFilters(label), selector: [...selector] };
    if (await listOfVenues(call, venueIds, 'listScreens', view, query)) return;
    const { noteUnknownLabels } = await import('../records/unknown-words.ts');
    await noteUnknownLabels(call, { labels: label, selectors: selector });
  },
});

const get = defineCommand({
  summary: 'Show a screen and what is on its glass',
  description: `The service judges the condition from the calls and events of the TV, as for signage
status. signage doctor shows its causes.`,
  arguments: { screen: one('its id, or its name such as Lobby/Main', 'screen') },
  examples: [
    ['signage screen get Lobby/Main', 'by venue and name'],
    ['signage screen get Main', 'by name only, if it is unique'],
    ['signage screen get Lobby/Main -o json --jq .condition', 'one field'],
  ],
  async run(call) {
    const { id } = await findScreen(call, call.args.screen);
    const { judgedScreen, judgedScreenView, readScreenStatus } = await import(
      '../glass/fleet-status.ts'
    );
    await call.results.record(judgedScreen(await readScreenStatus(call, id)), judgedScreenView);
  },
});

const isUpToDate = (screen: Screen, changes: LabelChanges, given: PlaceTexts) =>
  hasPlaceTexts('screen', screen, given) &&
  Object.entries(changes).every(
    ([key, value]) => (Object.hasOwn(screen.labels, key) ? screen.labels[key] : null) === value,
  );

const update = defineCommand({
  summary: 'Change a screen, or the labels of several',
  description: `Fields that you do not name are not changed. With several screens, --selector or
--venue, it prints one result for each screen. One failure does not stop the others.`,
  arguments: { screen: some('its id, or its name such as Lobby/Main', 'screen') },
  options: {
    name: option.text('--name <name>', 'the new name'),
    ...placeOptions('screen', 'update'),
    label: option.repeated('--label <key=value>', 'set a label; key- removes it'),
    ...selectionOptions,
  },
  examples: [
    ['signage screen update Lobby/Main --name Entrance', 'a new name'],
    [
      'signage screen update Lobby/Main --label floor=2 --label old-',
      'sets a label and removes one',
    ],
    [
      'signage screen update --selector floor=2 --venue Lobby --label wing=east',
      'a label for all screens of one floor in the venue',
    ],
  ],
  effect: 'changes',
  async run(call) {
    const { name, label } = call.options;
    const names = call.args.screen;
    const labels = readLabelChanges(label);
    const bodyFor = (screen: Screen) => ({
      ...(name !== undefined && { name }),
      ...placeBody('screen', call.options, screen),
      ...(label.length > 0 && { labels }),
    });
    if (name === undefined && label.length === 0 && !givesPlaceText('screen', call.options))
      throw usage(`Nothing to change. Give ${changeFlags('screen')}.`);
    if (name !== undefined && !isSingle(call, names))
      throw usage('--name works only with one named screen.');
    const update = ({ id, screen }: Selected) =>
      call.change('updateScreen', { params: { id }, body: bodyFor(screen) });
    const { screens, single } = await selectScreens(call, names);
    if (!single) {
      await confirmSelected(call, 'Change', screens);
      return forEachRecord(call, screens, async (one) =>
        isUpToDate(one.screen, labels, call.options)
          ? 'unchanged'
          : (await update(one)) && 'updated',
      );
    }
    noteAbsentLabels(call.note, single.screen.labels, labels);
    const made = await update(single);
    if (made) await call.results.record(made.answer, screensOfVenueView(call, made.answer.venueId));
    return 0;
  },
});

const deletion = (call: CommandContext, id: string) =>
  call.change('deleteScreen', {
    params: { id },
    ...(call.options.force && { query: { force: 'true' as const } }),
  });

async function deleteOne(call: CommandContext, screen: Selected['screen']): Promise<void> {
  const name = await screenPath(call, screen);
  const withDevice = call.options.force && screen.state === 'active';
  await call.confirmDestruction(
    `Delete the screen "${name}"${withDevice ? ' and revoke its device' : ''}?`,
  );
  if (await deletion(call, screen.id)) call.note(`Deleted the screen "${name}".`);
}

async function deleteMany(call: CommandContext, chosen: readonly Selected[]): Promise<number> {
  await confirmDestroyed(
    call,
    call.options.force ? 'Delete, together with their devices,' : 'Delete',
    chosen,
  );
  return forEachRecord(call, chosen, async ({ id }) => (await deletion(call, id)) && 'deleted');
}

const remove = defineCommand({
  summary: 'Delete one or more screens',
  description: `A screen with a device is deleted only with --force. Its device is revoked, and its
events are kept. With several screens, --selector or --venue, it prints one result for each screen.
One failure does not stop the others.`,
  arguments: { screen: some('its id, or its name such as Lobby/Main', 'screen') },
  options: {
    force: option.flag('--force', 'also delete a screen that has a device'),
    ...selectionOptions,
  },
  examples: [
    ['signage screen delete Lobby/Main', 'asks first'],
    [
      'signage screen delete Lobby/Main --force --yes',
      'for scripts: revokes its device and does not ask first',
    ],
    [
      'signage screen delete --selector floor=2 --venue Lobby --yes',
      'all screens of one floor in the venue',
    ],
  ],
  effect: 'destroys',
  hints: {
    screen_active: 'Revoke its device first (signage device revoke {screen}), or use --force.',
  },
  async run(call) {
    const { screens, single } = await selectScreens(call, call.args.screen);
    if (!single) return deleteMany(call, screens);
    await deleteOne(call, single.screen);
    return 0;
  },
});

export const screen = {
  create,
  list,
  get,
  update,
  delete: remove,
};
