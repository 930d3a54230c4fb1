/**
 * Matches the start of a cell that spreadsheets would evaluate as a formula. Also matches such a
 * start after apostrophes, so that `originalText` can tell the added apostrophe from others.
 */
const formula = /^'*[=+\-@\t\r]/;

/**
 * Returns a CSV cell (RFC 4180 §2). Text that a spreadsheet would evaluate gets a leading
 * apostrophe, as OWASP recommends against CSV injection. Numbers are unchanged, even if negative.
 *
 * @example csvCell('=1+1') // "'=1+1"
 */
function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Returns the text of a cell without the apostrophe that `csvLine` adds.
 *
 * @example originalText("'=1+1") // '=1+1'
 */
export function originalText(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

/** Returns one line of CSV, including the line end. */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
