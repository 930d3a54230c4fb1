/** One word of an unfinished command line. */
export interface TypedWord {
  /** The word without quotes and escapes. */
  text: string;
  /** The quote that is still open at the end of the word. */
  quote: '"' | "'" | '';
  /**
   * The start of the word that bash keeps: up to the last unquoted `=`, `:` or `@`. Bash completes
   * only the rest.
   */
  before: string;
}

const wordBreaks = '@=:';
const emptyWord = (): TypedWord => ({ text: '', quote: '', before: '' });

/**
 * Splits an unfinished bash command line into words. The last word may be empty. Expands nothing:
 * variables stay as typed.
 *
 * @example
 *   bashWords('signage venue get "Main lo').at(-1)
 *   // { text: 'Main lo', quote: '"', before: '' }
 */
export function bashWords(line: string): TypedWord[] {
  const words: TypedWord[] = [];
  let word: TypedWord | undefined;
  const at = (): TypedWord => {
    word ??= emptyWord();
    return word;
  };
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? '';
    const quote = word?.quote ?? '';
    const next = line[index + 1];
    if (quote === "'" || (quote === '"' && character !== '\\')) {
      if (character === quote) at().quote = '';
      else at().text += character;
    } else if (character === '\\' && next !== undefined) {
      at().text += quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next;
      index++;
    } else if (character === '"' || character === "'") {
      at().quote = character;
    } else if (/\s/.test(character)) {
      if (word) words.push(word);
      word = undefined;
    } else {
      at().text += character;
      if (wordBreaks.includes(character)) at().before = at().text;
    }
  }
  return [...words, word ?? emptyWord()];
}

/**
 * Returns the rest of a candidate after `before`, quoted for the open quote. Returns `undefined` if
 * the candidate does not begin with `before`, or if it cannot be quoted.
 */
export function bashRest(text: string, { quote, before }: TypedWord): string | undefined {
  if (!text.startsWith(before)) return undefined;
  const rest = text.slice(before.length);
  if (quote === "'") return rest.includes("'") ? undefined : rest;
  if (quote === '"') return rest.replaceAll(/["\\$`]/g, '\\$&');
  return rest.replaceAll(/[^\w./%+,@:=\-\u0080-\uffff]/g, '\\$&');
}
