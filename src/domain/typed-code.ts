/** The 31 characters of codes, without the easily confused `0 O 1 I L` (docs/protocol.md §4). */
export const codeAlphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

/**
 * Characters that people type between or around the two halves of a code or claim: spaces, points
 * and dashes. Chromium 63 does not know `\p{Pd}`.
 */
const separators =
  /[\s._\-\u058a\u05be\u1400\u1806\u2010-\u2015\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d]/g;

/** Returns whether a typed character may stand between the halves of a code. */
export const isSeparator = (character: string): boolean => character.replace(separators, '') === '';

/**
 * Formats a pairing code or a claim for people, as two groups.
 *
 * @example groupedCode('ABCD2345') // 'ABCD-2345'
 * @example groupedCode('K7Q2MX') // 'K7Q-2MX'
 */
export const groupedCode = (code: string): string =>
  code.replace(/^(.{4})(.{4})$|^(.{3})(.{3})$/su, '$1$3-$2$4');

/** Removes what people type beside the characters of a code or claim. Returns ASCII capitals. */
export const withoutSeparators = (text: string): string =>
  text.replaceAll(separators, '').replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());

/** Returns the first character of a text that no code or claim contains. */
export const foreignCharacter = (text: string): string | undefined =>
  [...text].find((character) => !codeAlphabet.includes(character));

const oneCode = `[${codeAlphabet}]{4}[-._]?[${codeAlphabet}]{4}|[${codeAlphabet}]{3}[-._]?[${codeAlphabet}]{3}`;
const wholeCode = new RegExp(`^(?:${oneCode})$`);
/**
 * UUIDs, whose parts may look like codes, and codes in a longer text. There, only a code with a
 * digit counts, because words such as `SCREEN` have the same characters.
 */
const uuidOrCode = new RegExp(
  `([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})|(?<![A-Za-z0-9])(?:${oneCode})(?![A-Za-z0-9])`,
  'g',
);

/** Replaces everything of the form of a pairing code or a claim: `…`. */
export const maskCodes = (text: string): string =>
  wholeCode.test(text)
    ? '…'
    : text.replace(uuidOrCode, (found, uuid?: string) => uuid ?? (/\d/.test(found) ? '…' : found));
