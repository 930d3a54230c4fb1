/**
 * Matches the start of a cell that spreadsheets would evaluate as a formula. Also matches such a
 * start after apostrophes, so that `originalText` can tell the added apostrophe from others.
 */
const formula = /^'*[=+\-@\t\r]/;

/** How spreadsheets of a country write CSV. */
export interface CsvForm {
  /** Default: a comma. */
  separator?: string;
  /** Whether numbers have a comma in place of the point. */
  decimalComma?: boolean;
}

/**
 * Returns a CSV cell (RFC 4180 §2). Text that a spreadsheet would evaluate gets a leading
 * apostrophe, as OWASP recommends against CSV injection. Numbers get none, even if negative.
 *
 * @example csvCell('=1+1', {}) // "'=1+1"
 */
function csvCell(value: string | number, { separator = ',', decimalComma }: CsvForm): string {
  const number = decimalComma ? String(value).replace('.', ',') : String(value);
  const text = typeof value === 'number' ? number : formula.test(value) ? `'${value}` : value;
  return /["\r\n]/.test(text) || text.includes(separator)
    ? `"${text.replaceAll('"', '""')}"`
    : text;
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
export function csvLine(cells: readonly (string | number)[], form: CsvForm = {}): string {
  return `${cells.map((cell) => csvCell(cell, form)).join(form.separator ?? ',')}\r\n`;
}
