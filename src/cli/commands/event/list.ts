import { hasCode } from '../../../domain/error.ts';
import type { CommandContext } from '../../command/context.ts';
import { defineCommand } from '../../command/spec.ts';
import { type Filters, followEvents } from '../../event/follow.ts';
import * as option from '../../options/option.ts';
import { usage } from '../../options/settings.ts';
import { readTime } from '../../options/time.ts';
import { limitPages } from '../../output/results.ts';
import { findDevice, findScreen } from '../../records/find.ts';
import { isUuid } from '../../records/uuid.ts';
import { eventView } from '../../records/views/event-view.ts';

const time = ({ clock }: CommandContext, source: string, text: string | undefined) =>
  text === undefined
    ? undefined
    : new Date(readTime(text, { source, nowMs: clock.now(), spans: 'ago' })).toISOString();

/** An id is taken as it is: events outlive their screens and devices. */
async function idOf(
  text: string | undefined,
  find: (name: string) => Promise<{ id: string }>,
): Promise<string | undefined> {
  return text === undefined || isUuid(text) ? text : (await find(text)).id;
}

/** Shows events as they come in, until it is interrupted, nobody reads any more, or `--limit` is reached. */
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
  summary: 'List what TVs reported, or follow what they report',
  description:
    'Newest first; with --follow or --after oldest first. Times are those of receipt.\n\n--follow shows what comes in from now on, or from --since or --after on, until Ctrl-C.',
  options: {
    type: option.text(
      '--type <type>',
      'those of this type, such as impression, heartbeat or playback_error',
    ),
    screen: option.text('--screen <screen>', 'those of this screen, by id or name', 'screen'),
    device: option.text(
      '--device <device>',
      'those of this device, by id, or by the name of the screen that it is on',
      'device',
    ),
    since: option.text(
      '--since <time>',
      'those from then on: ISO 8601, epoch seconds, or a span such as 2h',
    ),
    until: option.text('--until <time>', 'those before then'),
    after: option.text('--after <event>', 'those that came after this event, by its id'),
    follow: option.flag('-F, --follow', 'go on with what comes in'),
  },
  examples: [
    ['signage event list --since 1h --type playback_error', 'what went wrong in the last hour'],
    ['signage event list --follow --screen Lobby/Main', 'what a TV reports, as it comes in'],
    [
      'signage event list --follow --since 10m -o ndjson | jq .event',
      'for programs: an object a line',
    ],
  ],
  operation: 'listEvents',
  effect: 'reads',
  list: true,
  async run(call) {
    const { type, follow: follows, after } = call.options;
    if (follows && call.options.until !== undefined)
      throw usage('--follow goes on without end: leave --until out.');
    if (after !== undefined && !isUuid(after))
      throw usage(`--after takes the id of an event, not "${after}".`);
    const [from, to] = [
      time(call, '--since', call.options.since),
      time(call, '--until', call.options.until),
    ];
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
    // The cursor of a list is the id of an event, and so is this.
    await call.list('listEvents', eventView(call), { query: { ...query, cursor: after } });
  },
});
