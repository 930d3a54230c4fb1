/** A number of a JSON text that is not what it becomes when it is parsed. */
export interface ChangedNumber {
  path: PropertyKey[];
  /** As in the text: `12345678901234567890`. */
  written: string;
}

/** Digits of a number without zeros at both ends, and the power of ten of the last one. */
function decimalOf(number: string): string {
  const [, mantissa = '', exponent = '0'] = /^[-+]?([\d.]+)(?:e([-+]?\d+))?$/i.exec(number) ?? [];
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Programs write up to so many digits of a double, of which the last ones may not be exact. */
const doubleDigits = 17;

/**
 * Whether a double has the value of a decimal number. `0.10` and `1e22` keep theirs, `2^53 + 1` and
 * `1e309` do not. A fraction of at most 17 digits is taken for a double that was written out.
 */
export function keepsValue(written: string): boolean {
  const value = Number(written);
  if (!Number.isFinite(value)) return false;
  const decimal = decimalOf(written);
  if (decimal === decimalOf(String(value))) return true;
  const [digits = '', exponent] = decimal.split('e');
  return value !== 0 && Number(exponent) < 0 && digits.length <= doubleDigits;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** Numbers with fewer digits and without an exponent are exact. */
const suspicious = /[\d.]{16}|\d[eE][-+]?\d/;

function* markedIn(value: unknown, path: PropertyKey[]): Generator<[number, PropertyKey[]]> {
  if (typeof value === 'string') {
    const [, number] = /^\0(\d+)$/.exec(value) ?? [];
    if (number !== undefined) yield [Number(number), path];
  } else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value))
      yield* markedIn(inner, [...path, Array.isArray(value) ? Number(name) : name]);
}

/**
 * Returns the numbers of a valid JSON text whose value a double changes, with their places. A
 * reviver of `JSON.parse` gets no text of numbers in Node 20.
 */
export function changedNumbers(text: string): ChangedNumber[] {
  if (!suspicious.test(text)) return [];
  const found: string[] = [];
  const marked = text.replaceAll(tokens, (token) => {
    if (token.startsWith('"') || !suspicious.test(token) || keepsValue(token)) return token;
    found.push(token);
    return `"\\u0000${found.length - 1}"`;
  });
  if (found.length === 0) return [];
  // A member that occurs twice is only its last one.
  return [...markedIn(JSON.parse(marked), [])].map(([number, path]) => ({
    path,
    written: found[number] as string,
  }));
}
