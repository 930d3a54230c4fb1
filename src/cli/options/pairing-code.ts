import type { Io } from '../terminal/io.ts';
import { usage } from './settings.ts';

const codeForm = /^[A-Za-z0-9]{8}$/;
const claimForm = /^[A-Za-z0-9]{6}$/;
/** Characters that people type between or around the two halves of a code or claim. */
const separators = /[\s\p{Pd}._]/gu;

/**
 * Formats a pairing code or a claim for people, as two groups.
 *
 * @example groupedCode('ABCD2345') // 'ABCD 2345'
 * @example groupedCode('K7Q2MX') // 'K7Q 2MX'
 */
export function groupedCode(code: string): string {
  return code.replace(/^(.{4})(.{4})$|^(.{3})(.{3})$/su, '$1$3 $2$4');
}

/**
 * Parses a pairing code in any spelling, such as `abcd-2345` or `ABCD 2345`. Throws `usage` for
 * other text. The message does not quote the text, because a mistyped code still reveals most of
 * the code.
 */
export function readCode(text: string): string {
  const code = text.replaceAll(separators, '');
  if (codeForm.test(code)) return code.toUpperCase();
  const { length } = [...code];
  const found = length === 8 ? 'other characters' : `${length} characters`;
  throw usage(`A pairing code is 8 letters and digits, such as ABCD 2345; this one has ${found}.`);
}

/**
 * Parses a claim in any spelling, such as `k7q2-mx` or `K7Q 2MX`. Throws `usage` for other text.
 */
export function readClaim(text: string): string {
  const claim = text.replaceAll(separators, '');
  if (claimForm.test(claim)) return claim.toUpperCase();
  const { length } = [...claim];
  const found = length === 6 ? 'other characters' : `${length} characters`;
  const isCode = codeForm.test(claim);
  throw usage(
    `A claim is 6 letters and digits, such as K7Q 2MX; this one has ${found}.`,
    isCode ? 'A pairing code of 8 is typed on the TV. A claim of 6 is shown by the TV.' : undefined,
  );
}

/**
 * Parses the code from the words of a command line. `-` reads the code from stdin, so that `ps`
 * does not show it.
 */
export async function readCodeWords(io: Io, words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return readCode(words.join(''));
  if (io.stdin.isTTY) throw usage('- reads the code from stdin, and nothing is piped in.');
  return readCode(await io.stdin.text());
}
