/** Quotes a text as one word for a shell, if necessary. */
export function shellQuote(text: string): string {
  return /^[\w./@%+,:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
