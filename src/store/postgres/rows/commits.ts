import { SignageError } from '../../../domain/error.ts';
import type { Query } from '../connection/query.ts';
import { Batcher } from './batcher.ts';
import type { Step } from './change-steps.ts';

/** While one group is committed the next is on its way: it waits for its turn in the database. */
const together = {
  lanes: 2,
  most: 64,
  mostWeight: 4 * 1024 * 1024,
  weightOf: (change: string) => change.length,
};

/** Answers whether the change was made; it was not where something that it had read was not so any more. */
export type Commit = (steps: readonly Step[]) => Promise<boolean>;

/** Makes changes, those of this instance that come at about the same moment in one transaction. */
export class Commits {
  readonly #grouped: Batcher<string, boolean>;

  constructor(ask: Query) {
    this.#grouped = new Batcher(together, (changes: readonly string[]) => makeAll(ask, changes));
  }

  readonly commit: Commit = (steps) => this.#grouped.do(JSON.stringify(steps));
}

/** Makes one change by itself. */
export async function makeOne(ask: Query, steps: readonly Step[]): Promise<boolean> {
  return (await make(ask, [JSON.stringify(steps)]))[0] as boolean;
}

/** What one of them cannot do must not fail the others: then each is made by itself. */
async function makeAll(
  ask: Query,
  changes: readonly string[],
): Promise<readonly (boolean | Promise<boolean>)[]> {
  try {
    return await make(ask, changes);
  } catch (error) {
    if (error instanceof SignageError || changes.length === 1) throw error;
  }
  const answers: Promise<boolean>[] = [];
  for (const change of changes) {
    const answer = make(ask, [change]).then(([isMade]) => isMade as boolean);
    answers.push(answer);
    await answer.catch(() => undefined);
  }
  return answers;
}

/** One statement is one transaction: it is done, or it is not, whatever becomes of us meanwhile. */
async function make(ask: Query, changes: readonly string[]): Promise<boolean[]> {
  const text = 'SELECT signage.make_changes($1::text) AS clashed';
  const [answer] = (await ask<{ clashed: string }>(text, [`[${changes.join(',')}]`])) as [
    { clashed: string },
  ];
  const clashed = new Set(answer.clashed.split(','));
  return changes.map((_, place) => !clashed.has(String(place + 1)));
}
