import type { CallAnswer, CallInput } from '../../client/call.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { checkRange } from '../input/time.ts';
import { limitPages } from '../output/results.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand } from '../program/spec.ts';
import { hasFilter, selectionOptions, selectScreens } from '../records/select-screens.ts';
import { impressionView } from '../records/views/history-views.ts';
import { countText } from '../terminal/text.ts';

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
    from: option.day('--since, --from <day>', 'first day, such as 2026-11-20'),
    to: option.day('--until, --to <day>', 'end before this day'),
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
