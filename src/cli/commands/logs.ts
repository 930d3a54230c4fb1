import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { readRange } from '../input/time.ts';
import { defineCommand, optional } from '../program/spec.ts';
import { findDevice, findScreen } from '../records/find.ts';
import { followRequests, printFollowed, type RequestFilters } from '../records/follow.ts';
import { tvRequestView } from '../records/views/history-views.ts';

export const logs = defineCommand({
  summary: 'Show what TVs requested and how the service answered',
  description: `Shows the latest requests of TVs: operation, status, error code and fault rules. -o
wide also shows the detail of an error and the request id. Newest first; with --follow, oldest
first. Registrations are listed under the screen of their code. The service keeps about the last 200
requests of each TV. The token needs the role operator.

--follow prints new requests until Ctrl-C. It starts now, or at --since.`,
  arguments: {
    screen: optional('only requests about this screen, as VENUE/SCREEN or by id', 'screen'),
  },
  options: {
    device: option.text(
      '--device <device>',
      'only requests of this device, by its id or the name of its screen',
      'device',
    ),
    refused: option.flag('--refused', 'only requests that got an error, or no answer'),
    since: option.text(
      '--from, --since <time>',
      'from this time on: ISO 8601, epoch seconds, or a time span such as 10m',
    ),
    until: option.text('--to, --until <time>', 'before this time'),
    follow: option.flag('-F, --follow', 'keep printing new requests'),
  },
  examples: [
    ['signage logs Lobby/Main', 'the latest requests of one TV'],
    ['signage logs --refused --since 1h', 'requests refused in the last hour, in all venues'],
    ['signage logs Lobby/Main --follow', 'requests as they arrive'],
    ['signage logs --follow --refused -o ndjson', 'for scripts: one JSON object per line'],
  ],
  list: true,
  async run(call) {
    const { follow, refused, device, until } = call.options;
    if (follow && until !== undefined) throw usage('--follow never ends. Leave out --until.');
    const { from, to } = readRange(call);
    const { screen } = call.args;
    const ofScreen = screen === undefined ? undefined : await findScreen(call, screen);
    const ofDevice = device === undefined ? undefined : await findDevice(call, device);
    if (ofScreen && ofDevice && ofDevice.screenId !== ofScreen.id)
      throw usage(
        `The device "${device}" does not belong to the screen "${screen}".`,
        'Leave out one of them.',
      );
    const filters: RequestFilters = {
      screenId: ofScreen?.id,
      deviceId: ofDevice?.id,
      refused: refused ? 'true' : undefined,
      from,
    };
    const view = tvRequestView(call);
    if (follow) await printFollowed(call, (signal) => followRequests(call, filters, signal), view);
    else await call.list('listRequests', view, { query: { ...filters, to } });
  },
});
