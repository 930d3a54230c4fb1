import type { Outcome } from '../../conformance/check.ts';
import { member, type View } from '../output/view.ts';

const signs: Readonly<Record<Outcome['result'], string>> = { pass: '✓', fail: '✗', skip: '–' };

/** Explains a failed or skipped row. */
function note({ result, expected, seen, reason }: Outcome): string | null {
  if (result === 'fail') return `expected ${expected}, saw ${seen}`;
  return reason;
}

/** The output of `signage conformance`: symbols for people, words in CSV. */
export function outcomeView(format: string | undefined): View<Outcome> {
  const inWords = format === 'csv';
  return {
    columns: [
      inWords ? member('result') : { name: 'result', value: ({ result }) => signs[result] },
      member('id'),
      member('level'),
      inWords ? member('section') : { name: 'section', value: ({ section }) => `§${section}` },
      member('title'),
      ...(inWords ? [] : [{ name: 'note', value: note }]),
      member('expected', { wide: true }),
      member('seen', { wide: true }),
      member('reason', { wide: true }),
    ],
    nameOf: ({ id }) => id,
  };
}
