/** Control characters, line separators, and marks that turn the direction of text, which a terminal would obey; and invisible characters (§5.1). */
const unprintable =
  /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;
const unprintableButTab =
  /[^\P{Cc}\t]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Whether `printable` would change the text. */
export function isPrintable(text: string): boolean {
  return text.search(unprintable) < 0;
}

/**
 * Text from elsewhere as it may be shown: whatever a terminal would obey is spelled out.
 *
 * @example printable('Lobby\u001b[2J') // 'Lobby\\u001b[2J'
 */
export function escapeControl(text: string): string {
  return text.replaceAll(unprintable, escaped);
}

/** As `printable`, with tabs as they are: they part columns and do no harm. */
export function printableWithTabs(text: string): string {
  return text.replaceAll(unprintableButTab, escaped);
}

/** A value as JSON, which stays JSON and obeys `printable` too: indented, or on one line. */
export function printableJson(value: unknown, indent = 2): string {
  const lines = (JSON.stringify(value, null, indent) ?? 'null').split('\n');
  return lines.map(escapeControl).join('\n');
}

/** Rows of two columns, the first padded to the widest. */
export function pairs(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${label.padEnd(width)}  ${escapeControl(text)}\n`).join('');
}
