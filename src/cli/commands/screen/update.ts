import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import { readLabelChanges } from '../../options/labels.ts';
import * as option from '../../options/option.ts';
import { isSingle, resolveScreens, selectionOptions } from '../../options/select-screens.ts';
import { usage } from '../../options/settings.ts';
import type { Screen } from '../../records/find.ts';
import { screensOfVenueView } from '../../records/views/place-views.ts';

const isUpToDate = ({ labels }: Screen, changes: ReturnType<typeof readLabelChanges>) =>
  Object.entries(changes).every(
    ([key, value]) => (Object.hasOwn(labels, key) ? labels[key] : null) === value,
  );

export const command = defineCommand({
  summary: 'Change a screen, or the labels of several',
  description: `Fields that you do not name are not changed. With several screens, --selector or
--venue there is one result for each. One failure does not stop the others.`,
  arguments: { screen: some('its id, or its name such as Lobby/Main', 'screen') },
  options: {
    name: option.text('--name <name>', 'the new name'),
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
  operation: 'updateScreen',
  effect: 'changes',
  async run(call) {
    const { name, label } = call.options;
    const choice = { ...call.options, screens: call.args.screen };
    const labels = readLabelChanges(label);
    const body = { ...(name !== undefined && { name }), ...(label.length > 0 && { labels }) };
    if (Object.keys(body).length === 0) throw usage('Nothing to change. Give --name or --label.');
    if (name !== undefined && !isSingle(choice))
      throw usage('--name works only with one named screen.');
    const update = (id: string) => call.change('updateScreen', { params: { id }, body });
    const chosen = await resolveScreens(call, choice);
    const [only] = chosen;
    if (!isSingle(choice) || only === undefined) {
      return forEachRecord(
        call,
        chosen,
        ({ id, name }) => ({ id, name }),
        async ({ id, screen }) =>
          isUpToDate(screen, labels) ? 'unchanged' : (await update(id)) && 'updated',
      );
    }
    const made = await update(only.id);
    if (made) await call.results.record(made.answer, screensOfVenueView(call, made.answer.venueId));
    return 0;
  },
});
