/** A text as one word of a shell, quoted where it must be. */
export function shellQuote(text: string): string {
  return /^[\w./@%+,:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
