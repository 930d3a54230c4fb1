import type { Io } from '../terminal/io.ts';
import { usage } from './settings.ts';

const codeForm = /^[A-Za-z0-9]{8}$/;
/** What people put between the halves of a code, and around it. */
const separators = /[\s\p{Pd}._]/gu;

/**
 * A pairing code as people read and type it: two groups of four.
 *
 * @example groupedCode('ABCD2345') // 'ABCD 2345'
 */
export function groupedCode(code: string): string {
  return code.replace(/^(.{4})(.{4})$/su, '$1 $2');
}

/**
 * A pairing code in anybody's spelling (`abcd-2345`, or the two words `ABCD 2345`) as the interface has it. Throws `usage`, without the text:
 * a code with a slip in it is nearly a code.
 */
export function readCode(text: string): string {
  const code = text.replaceAll(separators, '');
  if (codeForm.test(code)) return code.toUpperCase();
  throw usage(
    `A pairing code has 8 letters and digits, such as ABCD 2345; this has ${[...code].length} characters, or others.`,
  );
}

/** The code that the words of a command line spell; the one word `-` reads it from stdin, so that it need not be seen in the list of processes. */
export async function readCodeWords(io: Io, words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return readCode(words.join(''));
  if (io.stdin.isTTY) throw usage('- reads the code from what is piped in, and nothing is.');
  return readCode(await io.stdin.text());
}
