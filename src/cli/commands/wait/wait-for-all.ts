import * as option from '../../input/option.ts';
import type { CommandContext } from '../../program/context.ts';
import { isSingle } from '../../records/select-screens.ts';
import { type Looked, waitFor } from '../../records/wait.ts';
import { countText } from '../../terminal/text.ts';

export const timeout = option.duration(
  '15m',
  '--timeout <time>',
  'stop waiting after this time, such as 90s, 15m or 2h',
);

/** One of the records that a command waits for. */
export interface SeenRecord<T> extends Looked<T> {
  name: string;
}

export interface Goal<T> {
  /** What to wait for: of one record, or of all selected screens. */
  what: string;
  hint: string;
  /**
   * Interval between two checks of several records. Longer than for one record, because each check
   * requests all of them. Default: 2000.
   */
  everyMsForMany?: number;
  look(): Promise<SeenRecord<T>[]>;
}

/** Waits until all records are in the wanted state, and returns them. */
export function waitForAll<T>(
  call: CommandContext,
  names: readonly string[],
  { look, everyMsForMany = 2000, ...goal }: Goal<T>,
): Promise<T[]> {
  const isOne = isSingle(call, names);
  const waiting = {
    ...goal,
    timeoutMs: call.options.timeout,
    everyMs: isOne ? 1000 : everyMsForMany,
  };
  return waitFor(call, waiting, async () => {
    const all = await look();
    const left = all.filter(({ found }) => found === undefined);
    const [first] = left;
    const count = `${left.length.toLocaleString('en')} of ${countText(all.length, 'screen')}`;
    const saw = first?.saw ? `: ${first.saw}` : '';
    return {
      found: first ? undefined : all.map(({ found }) => found as T),
      saw: (isOne && first?.saw) || `still missing are ${count}, such as "${first?.name}"${saw}`,
    };
  });
}
