import { dayOf } from '../../../src/domain/records/report.ts';
import { type Contents, countedAfter, rowsAfter } from './contents.ts';
import type { ExpectedState, Run } from './model.ts';
import { countsOf, numberedAfter } from './sample-changes.ts';

/** The changes and batches that a store holds. */
export interface StoredContents {
  changes: number[];
  batches: number[];
}

/** Returns whether these are the last ones, and only whole purged days are missing. */
function isRest(
  there: readonly number[],
  all: readonly number[],
  ledger: ExpectedState,
  droppedBeforeMs: number,
): boolean {
  const missing = all.slice(0, all.length - there.length);
  if (JSON.stringify([...missing, ...there]) !== JSON.stringify(all)) return false;
  if (missing.length === 0) return true;
  const [last, next] = [
    dayOf(ledger.timeOf(missing.at(-1) ?? 0)),
    dayOf(ledger.timeOf(there[0] ?? 0)),
  ];
  return last < dayOf(droppedBeforeMs) && (there.length === 0 || last < next);
}

/**
 * Compares the contents of a store with those allowed after this step. Returns violations, or the
 * changes and batches that it holds.
 */
export function compare(
  contents: Contents,
  run: Run,
  step: number,
  exactly = false,
): { wrong: string[]; held: StoredContents } {
  const droppedBeforeMs = Math.max(
    0,
    ...run.dropped.filter((one) => one.step <= step).map(({ beforeMs }) => beforeMs),
  );
  const wrong: string[] = [];
  const possible = (ledger: ExpectedState) =>
    exactly ? [ledger.acknowledgedBy(step)] : ledger.possibleAt(step);
  const changes = possible(run.changes).find((one) => rowsAfter(one) === contents.rows);
  if (!changes)
    wrong.push(
      `the rows are none of those after ${told(possible(run.changes))}: ${contents.rows.slice(0, 90)}…`,
    );
  else if (!isRest(contents.audited, changes, run.changes, droppedBeforeMs))
    wrong.push(
      `the rows are those after ${changes.length} changes, the audit trail has ${contents.audited.join()}`,
    );
  const there = contents.batches.map(({ number }) => number);
  for (const { number, events } of contents.batches)
    if (countsOf(number).events !== events) wrong.push(`batch ${number} is there in part`);
  const batches = possible(run.batches).find((one) => countedAfter(one) === contents.counted);
  if (!batches)
    wrong.push(
      `the report counts ${contents.counted}, which is none of those after ${told(possible(run.batches))}`,
    );
  else if (!isRest(there, batches, run.batches, droppedBeforeMs))
    wrong.push(`of the batches ${batches.join()}, there are ${there.join()}`);
  else if (contents.numbered !== numberedAfter(batches))
    wrong.push(`after the batches ${batches.join()}, the numbers tell ${contents.numbered}`);
  return { wrong, held: { changes: changes ?? [], batches: batches ?? [] } };
}

function told(possible: readonly (readonly number[])[]): string {
  return possible.map((numbers) => `[${numbers.slice(-6).join()}]`).join(' or ');
}
