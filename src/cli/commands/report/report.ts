import type { CallAnswer } from '../../../client/call.ts';
import * as option from '../../input/option.ts';
import { type Setting, usage } from '../../input/settings.ts';
import { limitPages } from '../../output/results.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand } from '../../program/spec.ts';
import { hasFilter } from '../../records/select-screens.ts';
import { impressionView } from '../../records/views/report-views.ts';
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

function noteMisdated(call: CommandContext, { misdated }: Report): void {
  if (!misdated) return;
  const { impressions, screens, firstDay, lastDay } = misdated;
  const what = `${countText(impressions, 'impression')} of ${countText(screens, 'TV')} ${impressions === 1 ? 'is' : 'are'}`;
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  call.note(`${what} dated ${days} by a wrong clock. --by received counts them by receipt.`);
}

/** Names what version 0.1.0 has counted in another way. */
function noteOldCounts(call: CommandContext, { venueDaysSince, ungrouped }: Report): void {
  if (venueDaysSince)
    call.note(
      `Days before ${venueDaysSince} are UTC days for impressions that version 0.1.0 received.`,
    );
  if (ungrouped)
    call.note(
      `Without ${countText(ungrouped, 'impression')} that version 0.1.0 counted by one group only.`,
    );
}

const impressions = defineCommand({
  summary: 'Report proof of play',
  description: `Counts impressions, and plays of items without a campaign, and sums the real playing
time of the impressions in seconds. A play is full if it lasted as long as planned. Days are those
of the venue of each screen. Impressions of simulated TVs are left out, unless --include-simulated
is given. With --selector and --venue, the default is one row per screen.`,
  options: {
    groupBy: groupOption,
    by: option.choice(
      ['timestamp', 'received'],
      '--by <time>',
      'the time that decides the day of an impression (default: timestamp)',
    ),
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
  ],
  list: true,
  async run(call) {
    const {
      by,
      includeSimulated,
      groupBy = hasFilter(call) ? 'screen' : 'campaign',
    } = call.options;
    const filters: ReportFilters = { ...(await rangeFilters(call)), groupBy, by };
    const report = await call.read('reportImpressions', { query: filters });
    if (!includeSimulated) await noteSimulated(call, filters);
    const { output, quiet, limit } = call.common;
    const isEmpty = report.items.length === 0 && (await selectsScreens(call, filters));
    const asks = isEmpty && isForPeople(output) && !quiet;
    const whenEmpty = asks ? await whyEmpty(call, filters) : undefined;
    await call.results.list(limitPages([report.items], limit), impressionView(groupBy), whenEmpty);
    noteMisdated(call, report);
    noteOldCounts(call, report);
  },
});

export const report = { impressions, plays, coverage };
