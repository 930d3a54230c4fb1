import { isGuid } from '../../domain/id.ts';
import * as option from '../input/option.ts';
import { defineCommand } from '../program/spec.ts';
import { findDevice, findScreen } from '../records/find.ts';
import { followOptions, listOrFollow, readFollowOptions } from '../records/list-or-follow.ts';
import { eventView } from '../records/views/history-views.ts';

/**
 * Resolves a name to an id. Returns an id without a look-up, because events outlive their screens
 * and devices.
 */
async function idOf(
  text: string | undefined,
  find: (name: string) => Promise<{ id: string }>,
): Promise<string | undefined> {
  return text === undefined || isGuid(text) ? text : (await find(text)).id;
}

const list = defineCommand({
  summary: 'List or follow the events of TVs',
  description: `Newest first; with --follow or --after, oldest first. Each time is when the service
received the event.

--follow prints new events until Ctrl-C. It starts now, or at --since or --after.`,
  options: {
    type: option.text(
      '--type <type>',
      'only this type, such as impression, heartbeat or playback_error',
    ),
    screen: option.text('--screen <screen>', 'only events of this screen, by id or name', 'screen'),
    device: option.text(
      '--device <device>',
      'only events of this device, by its id or the name of its screen',
      'device',
    ),
    ...followOptions('event', 'only events received after the event with this id'),
  },
  examples: [
    ['signage event list --since 1h --type playback_error', 'playback errors of the last hour'],
    ['signage event list --follow --screen Lobby/Main', 'events of one TV as they arrive'],
    [
      'signage event list --follow --since 10m -o ndjson | jq .event',
      'for scripts: one JSON object per line',
    ],
  ],
  list: true,
  async run(call) {
    const { type } = call.options;
    const range = readFollowOptions(call, 'an event');
    const screenId = await idOf(call.options.screen, (name) => findScreen(call, name));
    const deviceId = await idOf(call.options.device, (name) => findDevice(call, name));
    const filters = { type, screenId, deviceId };
    const found = await listOrFollow(call, 'listEvents', eventView(call), { ...range, filters });
    if (found !== false) return;
    const { noteUnknownType } = await import('../records/unknown-words.ts');
    await noteUnknownType(call, type);
  },
});

export const event = { list };
