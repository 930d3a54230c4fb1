/** One word of a command line that is being typed. */
export interface TypedWord {
  /** What it stands for. */
  text: string;
  /** The quote that is open at its end, if one is. */
  quote: '"' | "'" | '';
  /** What of the text comes before the part that bash completes: it wordBreaks words after `=`, `:` and `@`. */
  before: string;
}

const wordBreaks = '@=:';
const emptyWord = (): TypedWord => ({ text: '', quote: '', before: '' });

/**
 * The words of a line of bash as far as it is typed, the last one unfinished and perhaps empty. Nothing in it is expanded: a variable stays as it
 * is typed.
 *
 * @example bashWords('signage venue get "Main lo').at(-1) // { text: 'Main lo', quote: '"', before: '' }
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

/** A text as the rest of a word of bash that is typed already up to `before`, within its quote if it has one. */
export function bashRest(text: string, { quote, before }: TypedWord): string | undefined {
  if (!text.startsWith(before)) return undefined;
  const rest = text.slice(before.length);
  if (quote === "'") return rest.includes("'") ? undefined : rest;
  if (quote === '"') return rest.replaceAll(/["\\$`]/g, '\\$&');
  return rest.replaceAll(/[^\w./%+,@:=\-\u0080-\uffff]/g, '\\$&');
}
