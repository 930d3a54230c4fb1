import { defineCommand, one } from '../../command/spec.ts';
import { findScreen } from '../../records/find.ts';
import { createdCodeView } from '../../records/views/device-views.ts';

export const command = defineCommand({
  summary: 'Create a pairing code for a screen',
  description: `Type the code into the TV app before it expires. signage pair also follows the TV
until it plays.`,
  arguments: { screen: one('its id, or its name such as Lobby/Main', 'screen') },
  examples: [
    ['signage code create Lobby/Main', 'shows the code and when it expires'],
    ['signage code create Lobby/Main -o name', 'for scripts: prints the code alone'],
  ],
  operation: 'createCode',
  effect: 'changes',
  hints: { screen_already_bound: 'Free the screen first: signage device revoke {screen}' },
  async run(call) {
    const { id } = await findScreen(call, call.args.screen);
    const made = await call.change('createCode', { body: { screenId: id } });
    if (made) await call.results.record(made.answer, createdCodeView(call, made.answer));
  },
});
