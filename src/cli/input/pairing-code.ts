import { foreignCharacter, withoutSeparators } from '../../domain/typed-code.ts';
import { ticketIn } from '../../player/pairing/ticket-link.ts';
import type { Io } from '../terminal/io.ts';
import { readInput } from './input-file.ts';
import { usage } from './settings.ts';

/** Says why a text is no code or claim of this length. */
function whyNot(text: string, length: number): string {
  const characters = [...text].length;
  if (characters !== length) return `this one has ${characters} characters`;
  return `none has ${JSON.stringify(foreignCharacter(text))}`;
}

/**
 * Parses a pairing code in any spelling, such as `abcd-2345` or `ABCD 2345`. Throws `usage` for
 * other text. The message does not quote the text, because a mistyped code still reveals most of
 * the code. `what` begins the message.
 */
export function readCode(text: string, what = 'A pairing code'): string {
  const code = withoutSeparators(text);
  if (code.length === 8 && foreignCharacter(code) === undefined) return code;
  throw usage(`${what} is 8 letters and digits, such as ABCD-2345; ${whyNot(code, 8)}. Check it.`);
}

/**
 * Parses a claim in any spelling, such as `k7q2-mx` or `K7Q 2MX`. Throws `usage` for other text.
 */
export function readClaim(text: string): string {
  const claim = withoutSeparators(text);
  if (claim.length === 6 && foreignCharacter(claim) === undefined) return claim;
  throw usage(
    `A claim is 6 letters and digits, such as K7Q-2MX; ${whyNot(claim, 6)}. Check it.`,
    claim.length === 8
      ? 'A pairing code of 8 is typed on the TV. A claim of 6 is shown by the TV.'
      : undefined,
  );
}

/**
 * Parses the code from the words of a command line. `-` reads the code from stdin, so that `ps`
 * does not show it.
 */
export async function readCodeWords(io: Io, words: readonly string[]): Promise<string> {
  return readCode(await readWords(io, words));
}

async function readWords(io: Io, words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join('');
  if (io.stdin.isTTY) throw usage('- reads the code from stdin, and nothing is piped in.');
  return readInput(io, '-', { isSecret: true });
}

/**
 * Parses a code like `readCodeWords`, or a link or ticket. Throws `usage` for a ticket among the
 * words, where `ps` shows it.
 */
export async function readCodeOrTicket(
  io: Io,
  word: string,
): Promise<{ code: string } | { ticket: string }> {
  const text = await readWords(io, [word]);
  const ticket = ticketIn(text);
  if (ticket === undefined) return { code: readCode(text) };
  if (word !== '-') throw usage('A ticket is a secret: pass it on stdin, with - in its place.');
  return { ticket };
}
