import { memoize } from './memoize.ts';

/**
 * Characters to escape: invisible characters (docs/protocol.md §5.1), and characters that a
 * terminal would interpret. These are control characters, line separators and bidirectional
 * controls.
 */
const unprintable =
  /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;
const unprintableButTab =
  /[^\P{Cc}\t]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Whether `escapeControl` leaves the text unchanged. */
export function isPrintable(text: string): boolean {
  return text.search(unprintable) < 0;
}

/**
 * Escapes the characters of untrusted text that a terminal would interpret, and invisible ones.
 *
 * @example escapeControl('Lobby\u001b[2J') // 'Lobby\\u001b[2J'
 */
export function escapeControl(text: string): string {
  return text.replaceAll(unprintable, escaped);
}

/** Replaces the escapes that `escapeControl` writes with their characters. */
export function unescapeControl(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/g, (code, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return isPrintable(character) ? code : character;
  });
}

/** Like `escapeControl`, but keeps tabs, which separate columns. */
export function printableWithTabs(text: string): string {
  return text.replaceAll(unprintableButTab, escaped);
}

// A line break of CSV (RFC 4180) has a carriage return.
const unprintableInLines =
  /\r(?!\n)|[^\P{Cc}\t\r\n]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;

/** Surrounds the sequences of this program. No other text can contain it: nobody can guess it. */
const ownMark = memoize(() => `\u0000${crypto.randomUUID()}\u0000`);

/**
 * Marks a control sequence of this program, such as a colour. `escapeLines` escapes all others.
 */
export const ownSequence = (sequence: string): string => ownMark() + sequence + ownMark();

/** Erases the line of the cursor. */
export const eraseLine = (): string => ownSequence('\r\u001b[K');

/**
 * Escapes what `escapeControl` escapes, but keeps line breaks, tabs, and marked sequences of this
 * program. All text passes it when it is written.
 */
export function escapeLines(text: string): string {
  if (text.search(unprintableInLines) < 0) return text;
  return text
    .split(ownMark())
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(unprintableInLines, escaped)))
    .join('');
}

/** Formats a value as JSON with escaped control characters. An `indent` of 0 gives one line. */
export function printableJson(value: unknown, indent = 2): string {
  const lines = (JSON.stringify(value, null, indent) ?? 'null').split('\n');
  return lines.map(escapeControl).join('\n');
}
