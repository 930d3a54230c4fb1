/** Matches a control sequence, a control character, or a printable character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const pieces = /\u001b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\u0000-\u001f])/gu;

/** Returns the rows of a terminal after this output. Rows do not scroll away. */
export function terminalScreen(written: string, columns = 80): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const line = () => {
    while (rows.length <= row) rows.push([]);
    return rows[row] as string[];
  };
  for (const [, numbers = '', command, control, character] of written.matchAll(pieces)) {
    const count = Number.parseInt(numbers, 10) || 1;
    if (control === '\r') column = 0;
    else if (control === '\n') [row, column] = [row + 1, 0];
    else if (command === 'A') row = Math.max(0, row - count);
    else if (command === 'B') row += count;
    else if (command === 'C') column += count;
    else if (command === 'D') column = Math.max(0, column - count);
    else if (command === 'G') column = count - 1;
    else if (command === 'K') line().splice(numbers === '2' ? 0 : column);
    else if (command === 'J') {
      line().splice(column);
      rows.splice(row + 1);
    } else if (character !== undefined) {
      if (column >= columns) [row, column] = [row + 1, 0];
      while (line().length < column) line().push(' ');
      line()[column] = character;
      column++;
    }
  }
  return rows.map((one) => one.join('').trimEnd());
}
