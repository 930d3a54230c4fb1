import type { CallAnswer, CallInput } from '../../client/call.ts';
import type { CommandContext } from '../command/context.ts';
import { defineCommand, optional } from '../command/spec.ts';
import { followRequests, printFollowed, type RequestFilters } from '../event/follow.ts';
import { followOptions, listOrFollow, readFollowOptions } from '../event/list-or-follow.ts';
import * as option from '../options/option.ts';
import { hasFilter, selectionOptions, selectScreens } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { checkRange, readRange } from '../options/time.ts';
import { limitPages } from '../output/results.ts';
import { findDevice, findScreen } from '../records/find.ts';
import { isUuid } from '../records/names.ts';
import { countText } from '../records/text.ts';
import { eventView, impressionView, tvRequestView } from '../records/views/history-views.ts';

/**
 * Resolves a name to an id. Returns an id without a look-up, because events outlive their screens
 * and devices.
 */
async function idOf(
  text: string | undefined,
  find: (name: string) => Promise<{ id: string }>,
): Promise<string | undefined> {
  return text === undefined || isUuid(text) ? text : (await find(text)).id;
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
      '--since <time>',
      'from this time on: ISO 8601, epoch seconds, or a time span such as 10m',
    ),
    until: option.text('--until <time>', 'before this time'),
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

type Report = CallAnswer<'reportImpressions'>;
type Row = Report['items'][number];
type ReportFilters = CallInput<'reportImpressions'>['query'];

/** Reads a report with the selected rows. */
async function readReport(
  call: CommandContext,
  query: ReportFilters,
  isSelected: (row: Row) => boolean,
): Promise<Report> {
  const report = await call.read('reportImpressions', { query });
  return { ...report, items: report.items.filter(isSelected) };
}

/** Reads the report of real TVs, and prints the number of omitted impressions of simulated TVs. */
async function withoutSimulated(
  call: CommandContext,
  filters: ReportFilters,
  isSelected: (row: Row) => boolean,
): Promise<Report> {
  const report = await readReport(call, { ...filters, simulated: 'exclude' }, isSelected);
  const simulated = await readReport(call, { ...filters, simulated: 'only' }, isSelected);
  const left = simulated.items.reduce((sum, { impressions }) => sum + impressions, 0);
  const [what, them] = left === 1 ? ['impression', 'it'] : ['impressions', 'them'];
  if (left > 0)
    call.note(
      `Left out ${left.toLocaleString('en')} ${what} of simulated TVs. --include-simulated counts ${them}.`,
    );
  return report;
}

function noteMisdated(call: CommandContext, { misdated }: Report): void {
  if (!misdated) return;
  const { impressions, screens, firstDay, lastDay } = misdated;
  const what = `${countText(impressions, 'impression')} of ${countText(screens, 'TV')} ${impressions === 1 ? 'is' : 'are'}`;
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  call.note(`${what} dated ${days} by a wrong clock. --by received counts them by receipt.`);
}

/**
 * Returns the ids of the screens that the options select. Throws `usage` with another grouping,
 * because only a report by screen can be filtered by these ids.
 */
async function selectedIds(call: CommandContext): Promise<Set<string>> {
  const { groupBy } = call.options;
  if (groupBy !== undefined && groupBy !== 'screen')
    throw usage(`--selector and --venue report by screen: leave out --group-by ${groupBy}.`);
  const { screens } = await selectScreens(call, []);
  return new Set(screens.map(({ id }) => id));
}

const impressions = defineCommand({
  summary: 'Report proof of play',
  description: `Counts impressions and sums their real playing time in seconds. Days are UTC days.
Impressions of simulated TVs are left out, unless --include-simulated is given. --selector and
--venue report by screen.`,
  options: {
    groupBy: option.choice(
      ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'],
      '--group-by <group>',
      'one row per group (default: campaign)',
    ),
    from: option.day('--from <day>', 'first day, such as 2026-11-20'),
    to: option.day('--to <day>', 'end before this day'),
    by: option.choice(
      ['timestamp', 'received'],
      '--by <time>',
      'the time that decides the day of an impression (default: timestamp)',
    ),
    includeSimulated: option.flag('--include-simulated', 'also count simulated TVs'),
    ...selectionOptions,
  },
  examples: [
    ['signage report impressions', 'by campaign, over all time'],
    [
      'signage report impressions --group-by day --from 2026-11-01 --to 2026-12-01 -o csv',
      'one month by day, for a spreadsheet',
    ],
    [
      'signage report impressions --group-by screen --by received',
      'by screen, dated by time of receipt',
    ],
  ],
  list: true,
  async run(call) {
    const { includeSimulated, from, to, by } = call.options;
    checkRange({ flag: '--from', time: from }, { flag: '--to', time: to });
    const selected = hasFilter(call) ? await selectedIds(call) : undefined;
    const groupBy = selected ? 'screen' : call.options.groupBy;
    const query = { groupBy, from, to, by };
    const isSelected = ({ key }: Row) => selected?.has(key) ?? true;
    const report = includeSimulated
      ? await readReport(call, query, isSelected)
      : await withoutSimulated(call, query, isSelected);
    const view = impressionView(call, groupBy);
    // `selectScreens` has already printed a note about an empty selection.
    const whenEmpty = selected?.size === 0 ? undefined : 'Nothing found.';
    await call.results.list(limitPages([report.items], call.common.limit), view, whenEmpty);
    // It cannot tell which of the selected screens they are of.
    if (!selected) noteMisdated(call, report);
  },
});

export const report = { impressions };
