import * as option from '../../input/option.ts';
import { checkRange } from '../../input/time.ts';
import type { CommandContext } from '../../program/context.ts';
import { venueIdsOf } from '../../records/of-venues.ts';
import { selectionOptions } from '../../records/select-screens.ts';
import type { ReportFilters } from './why-empty.ts';

/** Options that all reports share. */
export const placeOptions = {
  from: option.day('--since, --from <day>', 'first day, such as 2026-11-20'),
  to: option.day('--until, --to <day>', 'end before this day'),
  days: option.choice(
    ['venue', 'utc'],
    '--days <days>',
    'days of the venue of each screen, or UTC days (default: venue)',
  ),
  ...selectionOptions,
};

export const rangeOptions = {
  ...placeOptions,
  includeSimulated: option.flag('--include-simulated', 'also count simulated TVs'),
};

/** Returns the filters of the shared options. Throws `usage` for a wrong range. */
export async function placeFilters(call: CommandContext): Promise<ReportFilters> {
  const { from, to, days = 'venue', selector, venue } = call.options;
  checkRange({ flag: '--from', time: from }, { flag: '--to', time: to });
  const venueId = await venueIdsOf(call, venue);
  return {
    from,
    to,
    days,
    ...(selector.length > 0 && { selector: [...selector] }),
    ...(venueId.length > 0 && { venueId }),
  };
}

export const rangeFilters = async (call: CommandContext): Promise<ReportFilters> => ({
  ...(await placeFilters(call)),
  simulated: call.options.includeSimulated ? undefined : 'exclude',
});
