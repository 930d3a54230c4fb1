import type { CommandContext } from '../../command/context.ts';
import { defineCommand, one } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { findScreen, type Screen } from '../../records/find.ts';
import { shellQuote } from '../../records/text.ts';
import { screensOfVenueView } from '../../records/views/place-views.ts';
import { waitFor } from '../../records/wait.ts';

function describe({ state, provisioningCode }: Screen): string {
  if (state === 'active') return 'it is active';
  return `it is provisioning, ${provisioningCode ? `its newest pairing code ${provisioningCode.status}` : 'without a pairing code'}`;
}

async function look(call: CommandContext, id: string, state: string) {
  const screen = await call.read('getScreen', { params: { id } });
  return { found: screen.state === state ? screen : undefined, saw: describe(screen) };
}

export const command = defineCommand({
  summary: 'Wait until a screen has a TV, or no longer has one',
  description: 'Returns at once if the screen is in this state. Exit code 8: the timeout passed.',
  arguments: { screen: one('its id or name', 'screen') },
  options: {
    for: option.choice(
      ['active', 'provisioning'],
      '--for <state>',
      'what to wait for (default: active)',
    ),
    timeout: option.duration(
      '15m',
      '--timeout <time>',
      'stop waiting after this time, such as 90s, 15m or 2h',
    ),
  },
  examples: [
    ['signage wait screen Lobby/Main', 'waits until a TV has registered'],
    [
      'signage wait screen Lobby/Main --for provisioning --timeout 5m',
      'waits until its device is revoked',
    ],
  ],
  effect: 'reads',
  async run(call) {
    const { for: state = 'active', timeout: timeoutMs } = call.options;
    const { id, venueId } = await findScreen(call, call.args.screen);
    const hint =
      state === 'active'
        ? `signage pair ${shellQuote(call.args.screen)}`
        : `signage device revoke ${shellQuote(call.args.screen)}`;
    const what = `the screen "${call.args.screen}" to be ${state}`;
    const screen = await waitFor(call, { timeoutMs, what, hint }, () => look(call, id, state));
    await call.results.record(screen, screensOfVenueView(call, venueId));
  },
});
