import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { makeProgress } from '../terminal/progress.ts';
import { waitUntil } from './wait.ts';

interface Look<T> {
  found: T | undefined;
  /** How things stand, as a clause: `it is provisioning`. */
  saw: string;
}

interface Waiting {
  timeoutMs: number;
  /** The end of a sentence: `the screen "Lobby/Main" to be active`. */
  what: string;
  /** What to do when it does not come. */
  hint: string;
}

/** As `waitUntil`; shows a person how things stand, and says it when the time is over. */
export async function waitFor<T>(
  call: CommandContext,
  { timeoutMs, what, hint }: Waiting,
  look: () => Promise<Look<T>>,
): Promise<T> {
  const progress = makeProgress(call);
  let last = '';
  try {
    return await waitUntil(call, { timeoutMs, what }, async () => {
      const { found, saw } = await look();
      last = saw;
      progress.show(`Waiting for ${what}: ${saw} …`);
      return found;
    });
  } catch (error) {
    if (!hasCode(error, 'wait_timed_out')) throw error;
    throw new SignageError('wait_timed_out', `${error.message.replace(/\.$/, '')}: ${last}.`, {
      hint,
    });
  } finally {
    progress.end();
  }
}
