import {
  codeAlphabet,
  foreignCharacter,
  groupedCode,
  withoutSeparators,
} from '../../domain/typed-code.ts';

/**
 * A key of the keypad: a character of pairing codes, or the key that deletes the last character.
 */
export type KeypadKey = string;

export const deleteKey: KeypadKey = 'delete';

/** The 31 characters of pairing codes and the delete key, row by row. */
export const keys: readonly KeypadKey[] = [...codeAlphabet, deleteKey];

/** Number of keys in a row. */
const columns = 8;
const rows = keys.length / columns;

/** Number of characters of a pairing code (docs/protocol.md §3.1). */
export const codeLength = 8;

export type Direction = 'left' | 'right' | 'up' | 'down';

const steps: Record<Direction, { column: number; row: number }> = {
  left: { column: -1, row: 0 },
  right: { column: 1, row: 0 },
  up: { column: 0, row: -1 },
  down: { column: 0, row: 1 },
};

/** Returns the index of the next key in a direction. At an edge, continues at the opposite edge. */
export function neighbour(index: number, direction: Direction): number {
  const step = steps[direction];
  const column = ((index % columns) + step.column + columns) % columns;
  const row = (Math.floor(index / columns) + step.row + rows) % rows;
  return row * columns + column;
}

/** Formats a code for people: `ABCD-2345`, with `_` for missing characters. */
export function formatCode(code: string): string {
  return groupedCode(code.padEnd(codeLength, '_'));
}

/**
 * Returns the pairing code in the fragment of a URL such as `/player#ABCD-2345`. `undefined` if the
 * fragment has no code.
 */
export function codeInFragment(fragment: string): string | undefined {
  // A browser escapes separators such as a space. It escapes no character of codes.
  return codeIn(fragment.replace(/^#|%[\da-f]{2}/gi, ''));
}

/** Returns the code in a text in any spelling, or `undefined`. */
export function codeIn(text: string): string | undefined {
  const code = withoutSeparators(text);
  return code.length === codeLength && foreignCharacter(code) === undefined ? code : undefined;
}
