import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { limitPages } from '../../output/results.ts';
import { impressionView } from '../../records/views/history-views.ts';

export const command = defineCommand({
  summary: 'Report proof of play',
  description: 'Counts impressions and sums their real playing time in seconds. Days are UTC days.',
  options: {
    groupBy: option.choice(
      ['campaign', 'creative', 'screen', 'venue', 'day'],
      '--group-by <group>',
      'one row per group (default: campaign)',
    ),
    from: option.text('--from <day>', 'first day, such as 2026-11-20'),
    to: option.text('--to <day>', 'end before this day'),
    by: option.choice(
      ['timestamp', 'received'],
      '--by <time>',
      'the time that decides the day of an impression (default: timestamp)',
    ),
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
  operation: 'reportImpressions',
  effect: 'reads',
  list: true,
  async run(call) {
    const { groupBy, from, to, by } = call.options;
    const query = {
      ...(groupBy !== undefined && { groupBy }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(by !== undefined && { by }),
    };
    async function* rows() {
      yield (await call.read('reportImpressions', { query })).items;
    }
    await call.results.list(limitPages(rows(), call.common.limit), impressionView(call, groupBy));
  },
});
