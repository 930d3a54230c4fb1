import { type Column, member, type View, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { isForPeople } from '../../terminal/format.ts';

/** A row of a deployment, or of a TV. */
interface Outcome {
  id: string;
  level: string;
  section: string;
  title: string;
  expected: string;
  result: 'pass' | 'fail' | 'skip';
  seen: string | null;
}

const signs: Readonly<Record<Outcome['result'], string>> = { pass: '✓', fail: '✗', skip: '–' };

interface OutcomeTexts<T> {
  /** Explains a failed or skipped row. */
  note(outcome: T): string | null;
  /** The wide column after `expected` and `seen`. */
  last: keyof T & string;
  /** Number of parts of the id that name the group of a row in a JUnit report. */
  groupParts: number;
}

/** The output of `signage conformance`: symbols for people, words in CSV. */
export function outcomeView<T extends Outcome>(
  format: string | undefined,
  { note, last, groupParts }: OutcomeTexts<T>,
): View<T> {
  const columns: Column<T>[] =
    format === 'csv'
      ? [member('result'), member('id'), member('level'), member('section'), member('title')]
      : [
          { name: 'result', value: ({ result }) => signs[result] },
          member('id'),
          member('level'),
          { name: 'section', value: ({ section }) => `§${section}` },
          member('title'),
          { name: 'note', value: note },
        ];
  return {
    columns: [...columns, ...wideMembers<T>('expected', 'seen', last)],
    nameOf: ({ id }) => id,
    testCase: (outcome) => ({
      name: `${outcome.id}: ${outcome.title}`,
      group: outcome.id.split('.').slice(0, groupParts).join('.'),
      failure: outcome.result === 'fail' ? (note(outcome) ?? '') : undefined,
      skipped: outcome.result === 'skip' ? (note(outcome) ?? '') : undefined,
    }),
  };
}

/** Prints the full texts of failed rows, because a table at a terminal truncates them. */
export function showFailures<T extends Outcome>(
  call: CommandContext,
  outcomes: readonly T[],
  textOf: (outcome: T) => string,
): void {
  if (!call.io.stdout.isTTY || !isForPeople(call.common.output)) return;
  for (const outcome of outcomes)
    if (outcome.result === 'fail') call.note(`✗ ${outcome.id}: ${textOf(outcome)}`);
}
