import type { PlayRow } from '../../../domain/records/report.ts';
import * as option from '../../input/option.ts';
import { limitPages } from '../../output/results.ts';
import { members, type View, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand } from '../../program/spec.ts';
import { isForPeople } from '../../terminal/format.ts';
import { rangeFilters, rangeOptions } from './range.ts';
import { type ReportFilters, selectsScreens, whyEmpty } from './why-empty.ts';

const rowsPerPage = 1000;

const playView: View<PlayRow> = {
  columns: [
    ...members<PlayRow>('venue', 'screen', 'item'),
    ...wideMembers<PlayRow>('creativeId'),
    ...members<PlayRow>('campaign'),
    ...wideMembers<PlayRow>('campaignId'),
    ...members<PlayRow>('localStart'),
    ...wideMembers<PlayRow>('start'),
    ...members<PlayRow>('seconds', 'planned', 'full'),
    ...wideMembers<PlayRow>('receivedAt', 'seq', 'screenId', 'venueId'),
  ],
  nameOf: ({ screenId, seq }) => `${screenId} ${seq ?? ''}`,
};

/** Yields the records of lines of JSON in groups, as they arrive. */
async function* recordsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlayRow[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (let at = 0; at < lines.length; at += rowsPerPage)
      yield lines.slice(at, at + rowsPerPage).map((line) => JSON.parse(line) as PlayRow);
  }
}

async function whyNone(
  call: CommandContext,
  filters: ReportFilters,
  campaign: string | undefined,
): Promise<string> {
  const query = { ...filters, groupBy: 'day' } as const;
  const { items } = await call.read('reportImpressions', { query });
  if (items.length === 0) return whyEmpty(call, filters);
  return campaign === undefined
    ? 'Nothing found: the events of these days are past their retention. signage report impressions has their counts.'
    : `Nothing found: ${campaign} was not played in these days. signage report impressions shows what was.`;
}

export const plays = defineCommand({
  summary: 'List single plays, for a buyer',
  description: `Lists each impression and each play of an item without a campaign, in the order of
receipt: when it began by the clock of the venue, for how long it played, and whether that was as
long as planned. It reads the events, which are kept for the retention of the service. Days are
those of the venue of each screen. Simulated TVs are left out, unless --include-simulated is given.`,
  options: {
    campaign: option.text('--campaign <campaign>', 'only this campaign, by name or id', 'campaign'),
    ...rangeOptions,
  },
  examples: [
    [
      'signage report plays --campaign summer --from 2026-11-01 --to 2026-12-01 -o csv',
      'the plays of a campaign in a month, for a spreadsheet',
    ],
  ],
  list: true,
  async run(call) {
    const filters = await rangeFilters(call);
    const { campaign } = call.options;
    const chunks = await call.plays({ query: { ...filters, campaign } });
    const pages = limitPages(recordsOf(chunks), call.common.limit);
    const found = await call.results.list(pages, playView);
    const { output, quiet } = call.common;
    if (found || !(await selectsScreens(call, filters))) return;
    if (isForPeople(output) && !quiet) call.note(await whyNone(call, filters, campaign));
  },
});
