import { hasCode } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import { type Filters, followEvents } from '../../event/follow.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { readTime } from '../../options/time.ts';
import { limitPages } from '../../output/results.ts';
import { findDevice, findScreen } from '../../records/find.ts';
import { isUuid } from '../../records/names.ts';
import { eventView } from '../../records/views/history-views.ts';

const time = ({ clock }: CommandContext, source: string, text: string | undefined) =>
  text === undefined
    ? undefined
    : new Date(readTime(text, { source, nowMs: clock.now(), spans: 'ago' })).toISOString();

/** Resolves a name to an id. Ids are not looked up: events outlive their screens and devices. */
async function idOf(
  text: string | undefined,
  find: (name: string) => Promise<{ id: string }>,
): Promise<string | undefined> {
  return text === undefined || isUuid(text) ? text : (await find(text)).id;
}

/** Prints events as they arrive. Ends when interrupted, when stdout closes, or at `--limit`. */
async function follow(
  call: CommandContext,
  filters: Filters,
  after: string | undefined,
): Promise<void> {
  const { limit } = call.common;
  if (limit === undefined) call.results.requireEndless('--follow');
  const { gone } = call.io.stdout;
  const signal = gone ? AbortSignal.any([call.interrupted, gone]) : call.interrupted;
  try {
    await call.results.list(
      limitPages(followEvents(call, { filters, after, signal }), limit),
      eventView(call),
    );
  } catch (error) {
    if (!gone?.aborted || !hasCode(error, 'interrupted')) throw error;
  }
}

export const command = defineCommand({
  summary: 'List or follow the events of TVs',
  description: `Newest first; with --follow or --after, oldest first. Times are when the service
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
    since: option.text(
      '--since <time>',
      'from this time on: ISO 8601, epoch seconds, or a time span such as 2h',
    ),
    until: option.text('--until <time>', 'before this time'),
    after: option.text('--after <event>', 'only events received after the event with this id'),
    follow: option.flag('-F, --follow', 'keep printing new events'),
  },
  examples: [
    ['signage event list --since 1h --type playback_error', 'playback errors of the last hour'],
    ['signage event list --follow --screen Lobby/Main', 'events of one TV as they arrive'],
    [
      'signage event list --follow --since 10m -o ndjson | jq .event',
      'for scripts: one JSON object per line',
    ],
  ],
  operation: 'listEvents',
  effect: 'reads',
  list: true,
  async run(call) {
    const { type, follow: follows, after } = call.options;
    if (follows && call.options.until !== undefined)
      throw usage('--follow never ends. Leave out --until.');
    if (after !== undefined && !isUuid(after))
      throw usage(`--after takes the id of an event, not "${after}".`);
    const from = time(call, '--since', call.options.since);
    const to = time(call, '--until', call.options.until);
    const screenId = await idOf(call.options.screen, (name) => findScreen(call, name));
    const deviceId = await idOf(call.options.device, (name) => findDevice(call, name));
    const filters = {
      ...(type !== undefined && { type }),
      ...(screenId !== undefined && { screenId }),
      ...(deviceId !== undefined && { deviceId }),
      ...(from !== undefined && { from }),
    };
    if (follows) return follow(call, filters, after);
    const query = {
      ...filters,
      ...(to !== undefined && { to }),
      ...(after !== undefined && { order: 'asc' as const }),
    };
    if (after === undefined) return call.list('listEvents', eventView(call), { query });
    // The list cursor is an event id.
    await call.list('listEvents', eventView(call), { query: { ...query, cursor: after } });
  },
});
