import { isUtf8 } from 'node:buffer';
import type { Site } from './site-schema.ts';

/** Characters of the bytes 0x80 to 0x9f in Windows-1252. `TextDecoder` of Node 20 lacks them. */
const specials = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Returns the byte of a character in Windows-1252, or 0xff, which UTF-8 does not use. */
function byteOf(character: string): number {
  const at = specials.indexOf(character);
  if (at >= 0) return 0x80 + at;
  const code = character.charCodeAt(0);
  return code < 0xff ? code : 0xff;
}

/** Characters that European texts use: Latin letters, punctuation, currencies. */
const european = /^[\u00a0-\u024f\u2010-\u20bf]+$/;

/**
 * Returns what a text was before a program read its UTF-8 as Windows-1252. `undefined`: that has
 * not happened.
 *
 * @example originalOf('CafÃ©') // 'Café'
 */
export function originalOf(text: string): string | undefined {
  const original = text.replaceAll(/[^\0-\x7f]+/g, (run) => {
    const bytes = Buffer.from([...run].map(byteOf));
    const decoded = isUtf8(bytes) ? bytes.toString('utf8') : '';
    return european.test(decoded) ? decoded : run;
  });
  return original === text ? undefined : original;
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* textsOf(inner);
}

/** Returns a warning if texts of a site were damaged by a program, such as `CafÃ©`. */
export function garbledWarning({ venues }: Site): string | undefined {
  const plain = venues.map(({ screens, ...venue }) => [
    venue,
    screens.map(({ playlist: _, ...screen }) => screen),
  ]);
  const garbled = [...textsOf(plain)].filter((text) => originalOf(text) !== undefined);
  const [first] = garbled;
  if (first === undefined) return undefined;
  const more = garbled.length > 1 ? ` (and ${garbled.length - 1} more)` : '';
  return `Warning: "${first}" looks like "${originalOf(first)}" in a wrong encoding${more}. Excel reads UTF-8 correctly only with a byte order mark: -o csv --bom writes one.`;
}
