/** Yields the non-empty lines of a text, without building an array of 100,000. */
export function* textLines(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    if (stop > start) yield text.slice(start, stop);
    start = stop + 1;
  }
}
