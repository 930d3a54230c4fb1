import type { CallAnswer } from '../../../client/call.ts';
import * as option from '../../input/option.ts';
import { limitPages } from '../../output/results.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand } from '../../program/spec.ts';
import { coverageView } from '../../records/views/report-views.ts';
import { isForPeople } from '../../terminal/format.ts';
import { countText } from '../../terminal/text.ts';
import { placeFilters, placeOptions } from './range.ts';
import { selectsScreens } from './why-empty.ts';

const groups = ['screen', 'venue', 'campaign', 'creative', 'day'] as const;

/** Says what the rows cannot say. */
function noteUnknown(
  call: CommandContext,
  { items, unattributed }: CallAnswer<'reportCoverage'>,
): void {
  if (unattributed)
    call.note(
      `${countText(unattributed, 'event')} of these screens never came. Nobody knows of which day and item.`,
    );
  const incomplete = items.filter((row) => row.incomplete).length;
  if (incomplete > 0)
    call.note(
      `${countText(incomplete, 'row')} ${incomplete === 1 ? 'is' : 'are'} incomplete: what was due is not known for a part of the time. -o wide marks them.`,
    );
}

export const coverage = defineCommand({
  summary: 'Compare what was planned with what was played',
  description: `Adds up for how long something was due on paired TVs while their venues were open,
and for how long TVs have reported plays. Each play counts once. Plays received more than 24 hours
later are late; those dated in the future or before the registration of the TV are unplaced. Lost
are events that a TV numbered and that never came. Simulated TVs do not count. The present day ends
now, and TVs may still report plays of it.`,
  options: {
    groupBy: option.oneOf(
      groups,
      'screen',
      '--group-by <group>',
      `one row per group: ${groups.join(', ')}`,
    ),
    ...placeOptions,
  },
  examples: [
    ['signage report coverage --from 2026-11-01 --to 2026-12-01', 'each screen in a month'],
    [
      'signage report coverage --group-by campaign --venue Lobby -o csv',
      'each campaign in a venue, for a spreadsheet',
    ],
  ],
  list: true,
  async run(call) {
    const { groupBy } = call.options;
    const filters = await placeFilters(call);
    const report = await call.read('reportCoverage', { query: { ...filters, groupBy } });
    const isEmpty = report.items.length === 0 && (await selectsScreens(call, filters));
    const { output, quiet, limit } = call.common;
    const asks = isEmpty && isForPeople(output) && !quiet;
    const whenEmpty = asks
      ? 'Nothing found: nothing was due on a paired TV in these days, and none has reported a play. signage status shows the TVs.'
      : undefined;
    await call.results.list(limitPages([report.items], limit), coverageView(groupBy), whenEmpty);
    noteUnknown(call, report);
  },
});
