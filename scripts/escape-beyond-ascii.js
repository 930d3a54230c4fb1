/**
 * Escapes all characters beyond ASCII, because Node reads pure ASCII faster and keeps it in half
 * the memory. Such characters stand in strings, regular expressions and comments. After a backslash
 * and in `String.raw`, that would change the meaning.
 */
export function escapeBeyondAscii(code) {
  if (/\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error('The bundle has a character that cannot be escaped: use \\u in the source.');
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
