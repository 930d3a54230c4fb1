import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import {
  choiceOptions,
  chooseScreens,
  confirmSelected,
  isSingle,
} from '../../options/select-screens.ts';

export const command = defineCommand({
  summary: 'Take the playlist off a screen, or off many',
  description:
    'The screens then have nothing to play, until something is published, or rolled back to. Where there is no playlist, nothing changes.',
  arguments: { screens: some('the screen, or several, by id or name', 'screen') },
  options: choiceOptions,
  examples: [
    ['signage playlist withdraw Lobby/Main', 'asks first'],
    [
      'signage playlist withdraw --venue Lobby --yes',
      'off all screens of a venue, without a question',
    ],
  ],
  operation: 'withdrawPlaylist',
  effect: 'destroys',
  async run(call) {
    const choice = { screens: call.args.screens, ...call.options };
    const screens = await chooseScreens(call, choice);
    await confirmSelected(call, 'Take the playlist off', screens);
    const withdraw = (id: string) => call.change('withdrawPlaylist', { params: { id } });
    if (!isSingle(choice))
      return forEachRecord(
        call,
        screens,
        ({ id, name }) => ({ id, name }),
        async ({ id }) => (await withdraw(id)) && 'withdrawn',
      );
    if (await withdraw(screens[0]?.id ?? ''))
      call.note(`Took the playlist off "${screens[0]?.name}".`);
  },
});
