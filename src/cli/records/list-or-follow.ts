import type { CallInput, ListItem } from '../../client/call.ts';
import { isGuid } from '../../domain/id.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { readRange } from '../input/time.ts';
import type { ViewSource } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { type FollowedList, followList, printFollowed } from './follow.ts';

/** The options of a list that can be followed. */
export const followOptions = (noun: string, afterHelp: string) => ({
  since: option.text(
    '--from, --since <time>',
    'from this time on: ISO 8601, epoch seconds, or a time span such as 2h',
  ),
  until: option.text('--to, --until <time>', 'before this time'),
  after: option.text(`--after <${noun}>`, afterHelp),
  follow: option.flag('-F, --follow', `keep printing new ${noun}s`),
});

interface FollowRange {
  follow: boolean;
  /** Id of the item to start after. */
  after: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

/** Reads `followOptions`. Throws `usage`. */
export function readFollowOptions(call: CommandContext, what: string): FollowRange {
  const { follow, after, until } = call.options;
  if (follow && until !== undefined) throw usage('--follow never ends. Leave out --until.');
  if (after !== undefined && !isGuid(after))
    throw usage(`--after takes the id of ${what}, not "${after}".`);
  return { follow, after, ...readRange(call) };
}

/** Prints a list, or follows it. Returns whether there was a record, unless it follows. */
export async function listOrFollow<L extends FollowedList>(
  call: CommandContext,
  list: L,
  view: ViewSource<ListItem<L>>,
  wanted: FollowRange & { filters: CallInput<L>['query'] },
): Promise<boolean | undefined> {
  const { follow, after, from, to } = wanted;
  const filters = { ...wanted.filters, from };
  if (follow) {
    const followed = (signal: AbortSignal) => followList(call, list, { filters, after, signal });
    await printFollowed(call, followed, view);
    return undefined;
  }
  // The cursor of these lists is an id.
  const resume = after === undefined ? {} : { order: 'asc' as const, cursor: after };
  const query = { ...filters, to, ...resume };
  // Both lists take the same paging parameters.
  return call.list(list as 'listEvents', view as ViewSource<ListItem<'listEvents'>>, { query });
}
