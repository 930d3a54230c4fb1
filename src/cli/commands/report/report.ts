import type { CallAnswer } from '../../../client/call.ts';
import { asGuid } from '../../../domain/id.ts';
import type { ReportRow } from '../../../domain/records/report.ts';
import * as option from '../../input/option.ts';
import { type Setting, usage } from '../../input/settings.ts';
import { limitPages } from '../../output/results.ts';
import type { View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand } from '../../program/spec.ts';
import { findCampaign } from '../../records/find.ts';
import { hasFilter } from '../../records/select-screens.ts';
import { daysText, impressionView } from '../../records/views/report-views.ts';
import { isForPeople } from '../../terminal/format.ts';
import { countText } from '../../terminal/text.ts';
import { coverage } from './coverage.ts';
import { plays } from './plays.ts';
import { rangeFilters, rangeOptions } from './range.ts';
import { type ReportFilters, selectsScreens, whyEmpty } from './why-empty.ts';

type Report = CallAnswer<'reportImpressions'>;

const groups = ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'];

/** One or two groups, with a comma between. */
const groupOption: Setting<string | undefined> = {
  flags: '--group-by <groups>',
  help: `one row per group, or per pair of two: ${groups.join(', ')} (default: campaign)`,
  initial: undefined,
  read(value, source) {
    const names = value.split(',');
    const isKnown = names.every((name) => groups.includes(name));
    if (isKnown && names.length <= 2 && names[0] !== names[1]) return value;
    throw usage(
      `${source} must be one or two of ${groups.join(', ')}, such as screen,creative, not "${value}".`,
    );
  },
};

/** Prints the number of impressions of simulated TVs that a report leaves out. */
async function noteSimulated(call: CommandContext, filters: ReportFilters): Promise<void> {
  const query = { ...filters, groupBy: 'day', simulated: 'only' } as const;
  const { items } = await call.read('reportImpressions', { query });
  const left = items.reduce((sum, { impressions }) => sum + impressions, 0);
  const [what, them] = left === 1 ? ['impression', 'it'] : ['impressions', 'them'];
  if (left > 0)
    call.note(
      `Left out ${left.toLocaleString('en')} ${what} of simulated TVs. --include-simulated counts ${them}.`,
    );
}

function misdatedNotes({ misdated }: Report): string[] {
  if (!misdated) return [];
  const { impressions, screens, firstDay, lastDay } = misdated;
  const what = `${countText(impressions, 'impression')} of ${countText(screens, 'TV')} ${impressions === 1 ? 'is' : 'are'}`;
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  return [`${what} dated ${days} by a wrong clock.`];
}

/** Names what version 0.1.0 has counted in another way. */
function oldCountNotes({ venueDaysSince, ungrouped }: Report): string[] {
  const days = `Days before ${venueDaysSince} are UTC days for impressions that version 0.1.0 received.`;
  const left = `Without ${countText(ungrouped ?? 0, 'impression')} that version 0.1.0 counted by one group only.`;
  return [...(venueDaysSince ? [days] : []), ...(ungrouped ? [left] : [])];
}

/** Says so if bookings are compared over other days than those of the report. */
function bookingNotes(rows: readonly ReportRow[], { from, to, days }: ReportFilters): string[] {
  const hasOtherDays = rows.some(
    (row) => isBooked(row) && (row.bookedFrom !== from || row.bookedTo !== to || days !== 'venue'),
  );
  return hasOtherDays
    ? ['BOOKED is compared over the booked days, which are not the days of this report.']
    : [];
}

const nameText = ({ key, name = key, key2 = '', name2 = key2 }: ReportRow) =>
  [name, name2, key, key2].join('\n');
const byName = (one: ReportRow, other: ReportRow) => (nameText(one) < nameText(other) ? -1 : 1);

const isBooked = ({ deliveredPlays }: ReportRow) => deliveredPlays !== undefined;

/** Returns the rows of the campaign of `--campaign`. Throws `campaign_not_found`. */
async function ofCampaign(
  call: CommandContext,
  groupBy: string,
  rows: readonly ReportRow[],
): Promise<readonly ReportRow[]> {
  const { campaign } = call.options;
  if (campaign === undefined) return rows;
  const id = asGuid(campaign) ?? (await findCampaign(call, campaign)).id;
  const isSecond = groupBy.split(',')[1] === 'campaign';
  return rows.filter(({ key, key2 }) => (isSecond ? key2 : key) === id);
}

/** Prints the page of `-o html`. */
async function printPage(
  call: CommandContext,
  groups: readonly string[],
  { columns }: View<ReportRow>,
  rows: readonly ReportRow[],
  notes: readonly string[],
): Promise<void> {
  const { reportPage } = await import('./page.ts');
  const { from, to, days, by, campaign, includeSimulated } = call.options;
  const { tenantName } = await call.read('getMe');
  const name = groups[0] === 'campaign' ? rows[0]?.name : rows[0]?.name2;
  const page = reportPage({
    title: `Proof of play: ${campaign === undefined ? tenantName : (name ?? campaign)}`,
    facts: [
      ...(campaign === undefined ? [] : [tenantName ?? '']),
      daysText(from, to) ?? 'All days',
      days === 'utc' ? 'days of UTC' : 'local days of the venues',
      ...(by === 'received' ? ['by time of receipt'] : []),
      ...(hasFilter(call) ? ['only selected screens'] : []),
      ...(includeSimulated ? ['with simulated TVs'] : []),
      `made ${new Date(call.clock.now()).toISOString().slice(0, 16)}Z`,
    ],
    groups,
    columns,
    rows: rows.slice(0, call.common.limit),
    notes,
  });
  await call.results.page(page);
}

const impressions = defineCommand({
  summary: 'Report proof of play',
  description: `Counts impressions, and plays of items without a campaign, and sums the real playing
time of the impressions in seconds. A play is full if it lasted as long as planned. Days are those
of the venue of each screen. Rows are sorted by name. Impressions of simulated TVs are left out,
unless --include-simulated is given. With --selector and --venue, the default is one row per screen.

A campaign that is booked (signage campaign set) is compared with its booking. -o html prints a page
to be sent or printed.`,
  options: {
    groupBy: groupOption,
    by: option.choice(
      ['timestamp', 'received'],
      '--by <time>',
      'the time that decides the day of an impression (default: timestamp)',
    ),
    campaign: option.text('--campaign <campaign>', 'only this campaign, by name or id', 'campaign'),
    ...rangeOptions,
  },
  examples: [
    ['signage report impressions', 'by campaign, over all time'],
    [
      'signage report impressions --group-by day --from 2026-11-01 --to 2026-12-01 -o csv',
      'one month by day, for a spreadsheet',
    ],
    [
      'signage report impressions --group-by screen,creative --venue Lobby',
      'each item on each screen of a venue',
    ],
    [
      'signage report impressions --group-by screen --by received',
      'by screen, dated by time of receipt',
    ],
    [
      'signage report impressions --campaign summer -o html > summer.html',
      'a page for the client of a campaign',
    ],
  ],
  list: true,
  hasPage: true,
  async run(call) {
    const {
      by,
      campaign,
      includeSimulated,
      groupBy = hasFilter(call) && campaign === undefined ? 'screen' : 'campaign',
    } = call.options;
    if (campaign !== undefined && !groupBy.split(',').includes('campaign'))
      throw usage(`--campaign needs groups with campaign, such as --group-by campaign,${groupBy}.`);
    const filters: ReportFilters = { ...(await rangeFilters(call)), groupBy, by };
    const report = await call.read('reportImpressions', { query: filters });
    if (!includeSimulated) await noteSimulated(call, filters);
    const { output, quiet, limit } = call.common;
    const rows = (await ofCampaign(call, groupBy, report.items)).toSorted(byName);
    const isEmpty = report.items.length === 0 && (await selectsScreens(call, filters));
    const asks = isEmpty && isForPeople(output) && !quiet;
    const otherPlayed = `Nothing found: ${campaign} was not played in these days. signage report impressions shows what was.`;
    const isFiltered = report.items.length > rows.length;
    const whenEmpty = asks ? await whyEmpty(call, filters) : isFiltered ? otherPlayed : undefined;
    const view = impressionView(groupBy, rows.some(isBooked) && output !== 'csv');
    const misdated = misdatedNotes(report);
    const oldCounts = oldCountNotes(report);
    if (output === 'html')
      return printPage(call, groupBy.split(','), view, rows, [...misdated, ...oldCounts]);
    await call.results.list(limitPages([rows], limit), view, whenEmpty);
    if (isForPeople(output)) bookingNotes(rows, filters).forEach(call.note);
    for (const note of misdated) call.note(`${note} --by received counts them by receipt.`);
    oldCounts.forEach(call.note);
  },
});

export const report = { impressions, plays, coverage };
