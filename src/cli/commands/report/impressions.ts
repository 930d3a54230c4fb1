import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { limitPages } from '../../output/results.ts';
import { impressionView } from '../../records/views/impression-view.ts';

export const command = defineCommand({
  summary: 'Count what was played',
  description: 'Impressions and the seconds that they really took, summed up. Days are UTC days.',
  options: {
    groupBy: option.choice(
      ['campaign', 'creative', 'screen', 'venue', 'day'],
      '--group-by <group>',
      'a row for each, campaigns unless given',
    ),
    from: option.text('--from <day>', 'from this day on, such as 2026-11-20'),
    to: option.text('--to <day>', 'before this day'),
    by: option.choice(
      ['timestamp', 'received'],
      '--by <time>',
      'what puts an impression into a day, its own time unless given',
    ),
  },
  examples: [
    ['signage report impressions', 'by campaign, all there is'],
    [
      'signage report impressions --group-by day --from 2026-11-01 --to 2026-12-01 -o csv',
      'a month, day by day, for a spreadsheet',
    ],
    ['signage report impressions --group-by screen --by received', 'by screen, as they came in'],
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
