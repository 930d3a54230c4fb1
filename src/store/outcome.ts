import type { Tx } from './store.ts';

/** The value of a change, or the error that it threw. */
export type ChangeOutcome<T> = { value: T } | { error: unknown };

export async function outcomeOf<T>(
  change: (tx: Tx) => Promise<T>,
  tx: Tx,
): Promise<ChangeOutcome<T>> {
  try {
    return { value: await change(tx) };
  } catch (error) {
    return { error };
  }
}
