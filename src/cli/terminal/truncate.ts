/**
 * Cuts a text to a number of columns. A cut text ends in `…`. `width` measures a text, as
 * string-width does.
 */
export function truncate(text: string, columns: number, width: (text: string) => number): string {
  if (width(text) <= columns) return text;
  let fitting = '';
  for (const character of text) {
    if (width(fitting + character) > columns - 1) break;
    fitting += character;
  }
  return `${fitting}…`;
}
