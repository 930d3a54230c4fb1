import { SignageError } from '../../../domain/error.ts';
import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';
import type { Step } from './transaction-steps.ts';

/**
 * Limits of a group commit. While one group is being committed, the next already waits for the lock
 * in the database.
 */
const groupLimits = {
  concurrency: 2,
  maxItems: 64,
  maxWeight: 4 * 1024 * 1024,
  weightOf: (change: string) => change.length,
};

/** Commits a change. Returns false if a row that the change has read was modified meanwhile. */
export type Commit = (steps: readonly Step[]) => Promise<boolean>;

/** Group commit: concurrent changes of this instance share a transaction. */
export function makeGroupCommit(query: Query): Commit {
  const batcher = new Batcher(groupLimits, (changes: readonly string[]) =>
    commitGroup(query, changes),
  );
  return (steps) => batcher.add(JSON.stringify(steps));
}

/** Commits a single change. */
export async function commitOne(query: Query, steps: readonly Step[]): Promise<boolean> {
  return (await commitChanges(query, [JSON.stringify(steps)]))[0] as boolean;
}

/**
 * Commits a group. If the database rejects the group, commits each change separately, so that one
 * error does not fail the others.
 */
async function commitGroup(
  query: Query,
  changes: readonly string[],
): Promise<readonly (boolean | Promise<boolean>)[]> {
  try {
    return await commitChanges(query, changes);
  } catch (error) {
    if (error instanceof SignageError || changes.length === 1) throw error;
  }
  const results: Promise<boolean>[] = [];
  for (const change of changes) {
    const result = commitChanges(query, [change]).then(([isCommitted]) => isCommitted as boolean);
    results.push(result);
    await result.catch(() => undefined);
  }
  return results;
}

/** Runs one statement, which is one transaction: all or nothing, even if this process dies. */
async function commitChanges(query: Query, changes: readonly string[]): Promise<boolean[]> {
  const text = 'SELECT signage.make_changes($1::text) AS conflicting';
  const [result] = (await query<{ conflicting: string }>(text, [`[${changes.join(',')}]`])) as [
    { conflicting: string },
  ];
  const conflicting = new Set(result.conflicting.split(','));
  return changes.map((_, index) => !conflicting.has(String(index + 1)));
}
