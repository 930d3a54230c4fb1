import { SignageError } from './error.ts';

/** Requirements on the labels of a screen and of its venue. All must be met. */
export type Selector = readonly {
  of: 'screen' | 'venue';
  key: string;
  /** Permitted values of the label. `undefined`: any value. */
  values?: readonly string[];
  /** Whether the requirement matches screens on which the label is missing or has another value. */
  negated: boolean;
}[];

type Requirement = Selector[number];
type Labels = Readonly<Record<string, string>>;

/** Returns whether the labels of a screen and of its venue meet all requirements. */
export function matchesSelector(selector: Selector, screen: Labels, venue: Labels): boolean {
  return selector.every(({ of, key, values, negated }) => {
    const labels = of === 'venue' ? venue : screen;
    const meets = Object.hasOwn(labels, key) && (values?.includes(labels[key] as string) ?? true);
    return meets !== negated;
  });
}

/** Maximum length of a selector, in UTF-16 code units. */
const maxSelectorLength = 2000;

/**
 * Parses a selector in the grammar of Kubernetes' label selectors, without `>` and `<`:
 * `role=menu,city in (Accra,Kumasi),floor!=2,!test,beta` (docs/protocol.md §5.3). In a single
 * `key=value` without a comma, the value may contain any other character. Throws `invalid_option`
 * with the column of the mistake, counted from 1.
 *
 * @example parseSelector('venue:city in (Accra,Kumasi),!test')
 */
export function parseSelector(text: string): Selector {
  if (text.length > maxSelectorLength)
    throw malformed(
      maxSelectorLength + 1,
      `a selector has at most ${maxSelectorLength} characters`,
    );
  // PostgreSQL cannot store NUL or lone surrogates. Its store replaces them with U+FFFD, so no
  // selector can match them.
  const unreadable = text.toWellFormed().replaceAll('\0', '\ufffd').indexOf('\ufffd');
  if (unreadable >= 0) throw malformed(unreadable + 1, 'this character cannot be selected');
  const [, key, value] = singlePair.exec(text) ?? [];
  if (key !== undefined && value !== undefined)
    return [{ of: 'screen', key, values: [value], negated: false }];
  return new SelectorParser(text).selector();
}

/** Matches `key=value`, but not `key==value` and `key!=value`, which the grammar covers. */
const singlePair = /^(?!\s)([^!=<>(),:]*[^!=<>(),:\s])=(?!=)([^,]*)$/;

function malformed(column: number, why: string): SignageError {
  return new SignageError('invalid_option', `column ${column}: ${why}`);
}

interface SelectorToken {
  text: string;
  /** Position in the text, counted from 0. */
  at: number;
}

const tokenPattern = /==|!=|[=!<>(),]|[^\s=!<>(),]+/g;
const wordPattern = /^[^=!<>(),]/;

/** A recursive descent parser of one selector. */
class SelectorParser {
  readonly #text: string;
  readonly #tokens: readonly SelectorToken[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = [...text.matchAll(tokenPattern)].map((found) => ({
      text: found[0],
      at: found.index,
    }));
  }

  selector(): Selector {
    const requirements = [this.#requirement()];
    while (this.#position < this.#tokens.length) {
      this.#expect(',', 'expected "," or the end');
      requirements.push(this.#requirement());
    }
    return requirements;
  }

  #requirement(): Requirement {
    if (this.#take('!')) return { ...this.#label(), negated: true };
    const label = this.#label();
    if (this.#take('=', '==')) return { ...label, values: [this.#value()], negated: false };
    if (this.#take('!=')) return { ...label, values: [this.#value()], negated: true };
    const operator = this.#take('in', 'notin');
    if (operator !== undefined)
      return { ...label, values: this.#values(), negated: operator === 'notin' };
    if (this.#peek() !== undefined && this.#peek() !== ',')
      throw this.#unexpected('expected =, !=, in, notin, "," or the end');
    return { ...label, negated: false };
  }

  #label(): Pick<Requirement, 'of' | 'key'> {
    const word = this.#peek();
    if (word === undefined || !wordPattern.test(word)) throw this.#unexpected('a label is missing');
    const [, prefix, key] = /^(venue:)?([^:]+)$/.exec(word) ?? [];
    if (key === undefined) {
      const why = `"${word}" is no label: write key, or venue:key for a label of the venue`;
      throw malformed(this.#at() + 1, why);
    }
    this.#position++;
    return { of: prefix === undefined ? 'screen' : 'venue', key };
  }

  #values(): string[] {
    this.#expect('(', 'expected "("');
    const values = [this.#value()];
    while (this.#take(',')) values.push(this.#value());
    this.#expect(')', 'expected "," or ")"');
    return values;
  }

  /** A value of zero or more words, with the space between them. */
  #value(): string {
    const start = this.#at();
    let end = start;
    for (
      let word = this.#peek();
      word !== undefined && wordPattern.test(word);
      word = this.#peek()
    ) {
      end = this.#at() + word.length;
      this.#position++;
    }
    return this.#text.slice(start, end);
  }

  #peek(): string | undefined {
    return this.#tokens[this.#position]?.text;
  }

  #at(): number {
    return this.#tokens[this.#position]?.at ?? this.#text.length;
  }

  /** Consumes the next token if it is one of the expected ones. */
  #take(...expected: readonly string[]): string | undefined {
    const token = this.#peek();
    if (token === undefined || !expected.includes(token)) return undefined;
    this.#position++;
    return token;
  }

  #expect(token: string, why: string): void {
    if (this.#take(token) === undefined) throw this.#unexpected(why);
  }

  #unexpected(why: string): SignageError {
    const token = this.#peek();
    return malformed(this.#at() + 1, token === undefined ? why : `${why} before "${token}"`);
  }
}
