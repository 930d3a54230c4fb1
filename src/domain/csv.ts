/** A spreadsheet takes a cell that begins so for a formula. */
const formula = /^[=+\-@\t\r]/;

/**
 * A cell of CSV (RFC 4180 §2). Text that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises against CSV injection. Numbers
 * stay numbers, negative ones too.
 *
 * @example csvCell('=1+1') // "'=1+1"
 */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One line of CSV, with its end. */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
