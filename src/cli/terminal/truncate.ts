type Measure = (text: string) => number;

/**
 * Cuts a text to a number of columns. A cut text ends in `…`. `width` measures a text, as
 * string-width does.
 */
export function truncate(text: string, columns: number, width: Measure): string {
  if (width(text) <= columns) return text;
  let fitting = '';
  for (const character of text) {
    if (width(fitting + character) > columns - 1) break;
    fitting += character;
  }
  return `${fitting}…`;
}

/** Like `truncate`, but cuts the middle, because names often differ at their ends. */
function truncateMiddle(text: string, columns: number, width: Measure): string {
  if (width(text) <= columns) return text;
  const characters = [...text];
  const half = Math.floor((columns - 1) / 2);
  let end = '';
  while (width((characters.at(-1) ?? '') + end) <= half) end = (characters.pop() ?? '') + end;
  return truncate(characters.join(''), columns - width(end), width) + end;
}

/**
 * Cuts the name of a screen to a number of columns. Of `Venue/Screen`, cuts the venue first, and
 * the middle of the screen's name last.
 */
export function truncateScreen(text: string, columns: number, width: Measure): string {
  const slash = text.indexOf('/');
  const screen = text.slice(slash);
  const venueColumns = columns - width(screen);
  if (width(text) <= columns) return text;
  if (slash < 0 || venueColumns < 1)
    return truncateMiddle(screen.replace(/^\//, ''), columns, width);
  return truncate(text.slice(0, slash), venueColumns, width) + screen;
}
