import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import {
  confirmSelected,
  isSingle,
  resolveScreens,
  selectionOptions,
} from '../../options/select-screens.ts';

export const command = defineCommand({
  summary: 'Withdraw the playlist of one or more screens',
  description: `The screens then play nothing until you publish or roll back. Screens without a
playlist are not changed.`,
  arguments: { screens: some('one or more screens, by id or name', 'screen') },
  options: selectionOptions,
  examples: [
    ['signage playlist withdraw Lobby/Main', 'asks first'],
    ['signage playlist withdraw --venue Lobby --yes', 'for all screens of a venue, without asking'],
  ],
  operation: 'withdrawPlaylist',
  effect: 'destroys',
  async run(call) {
    const choice = { screens: call.args.screens, ...call.options };
    const screens = await resolveScreens(call, choice);
    await confirmSelected(call, 'Withdraw the playlist of', screens);
    const withdraw = (id: string) => call.change('withdrawPlaylist', { params: { id } });
    if (!isSingle(choice))
      return forEachRecord(
        call,
        screens,
        ({ id, name }) => ({ id, name }),
        async ({ id }) => (await withdraw(id)) && 'withdrawn',
      );
    if (await withdraw(screens[0]?.id ?? ''))
      call.note(`Withdrew the playlist of "${screens[0]?.name}".`);
  },
});
