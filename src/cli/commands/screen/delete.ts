import type { CommandContext } from '../../command/context.ts';
import { forEachRecord } from '../../command/for-each-record.ts';
import { defineCommand, some } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import {
  confirmSelected,
  isSingle,
  resolveScreens,
  type Selected,
  selectionOptions,
} from '../../options/select-screens.ts';
import { screenPath } from '../../records/names.ts';

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
  await confirmSelected(
    call,
    call.options.force ? 'Delete, together with their devices,' : 'Delete',
    chosen,
  );
  const nameOf = ({ id, name }: Selected) => ({ id, name });
  return forEachRecord(
    call,
    chosen,
    nameOf,
    async ({ id }) => (await deletion(call, id)) && 'deleted',
  );
}

export const command = defineCommand({
  summary: 'Delete one or more screens',
  description: `A screen with a device is deleted only with --force. Its device is revoked, and its
events are kept. With several screens, --selector or --venue there is one result for each. One
failure does not stop the others.`,
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
  operation: 'deleteScreen',
  effect: 'destroys',
  hints: {
    screen_active: 'Revoke its device first (signage device revoke {screen}), or use --force.',
  },
  async run(call) {
    const choice = { ...call.options, screens: call.args.screen };
    const chosen = await resolveScreens(call, choice);
    const [only] = chosen;
    if (!isSingle(choice) || only === undefined) return deleteMany(call, chosen);
    await deleteOne(call, only.screen);
    return 0;
  },
});
