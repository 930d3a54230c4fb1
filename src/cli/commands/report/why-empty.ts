import type { CallInput } from '../../../client/call.ts';
import { hasCode } from '../../../domain/error.ts';
import type { CommandContext } from '../../program/context.ts';
import { hasFilter, noneMatches } from '../../records/select-screens.ts';

export type ReportFilters = NonNullable<CallInput<'reportImpressions'>['query']>;

/** Whether the service has refused events of a TV lately. `false` also if the token may not ask. */
async function hasRefused(call: CommandContext): Promise<boolean> {
  try {
    const { items } = await call.read('listRequests', { query: { refused: 'true', limit: 200 } });
    return items.some(({ operation }) => operation === 'postEvents');
  } catch (error) {
    if (hasCode(error, 'insufficient_role')) return false;
    throw error;
  }
}

/**
 * Returns whether the options select a screen. Throws `screen_not_found` if there is none, unless
 * `--allow-none` is given.
 */
export async function selectsScreens(
  call: CommandContext,
  filters: ReportFilters,
): Promise<boolean> {
  const { venueId, selector } = filters;
  if (!hasFilter(call)) return true;
  const venues = venueId === undefined ? [undefined] : [venueId].flat();
  const pages = venues.map((id) =>
    call.read('listScreens', { query: { selector, venueId: id, limit: 1 } }),
  );
  if ((await Promise.all(pages)).some(({ items }) => items.length > 0)) return true;
  if (!call.options.allowNone) throw noneMatches(call);
  call.note('No screen matches.');
  return false;
}

/** Returns why a report is empty, and the command that shows more. */
export async function whyEmpty(call: CommandContext, filters: ReportFilters): Promise<string> {
  const { from: _from, to: _to, groupBy: _group, ...always } = filters;
  const count = async (query: ReportFilters) =>
    (await call.read('reportImpressions', { query: { ...query, groupBy: 'day' } })).items;
  const isOfSimulated = filters.simulated === 'exclude';
  if (isOfSimulated && (await count({ ...filters, simulated: 'only' })).length > 0)
    return 'Nothing found: only simulated TVs have played. --include-simulated counts them.';
  if ((await count(filters)).length > 0)
    return 'Nothing found: only items without a campaign were played. --group-by creative counts them.';
  const days = await count({ ...always, simulated: 'include' });
  const [first] = days;
  const last = days.at(-1);
  if (first && last)
    return `Nothing found in these days: TVs have played from ${first.key} to ${last.key}.`;
  if (hasFilter(call)) return 'Nothing found: the selected screens have not played.';
  if (await hasRefused(call))
    return 'Nothing found: the service has refused events of TVs. signage logs --refused shows them.';
  const events = await call.read('listEvents', { query: { limit: 1 } });
  if (events.items.length > 0)
    return 'Nothing found: TVs have reported events, but no plays. signage event list shows them.';
  return 'Nothing found: no event of a TV is stored. signage status shows the TVs.';
}
