import type { Texts } from './english.ts';

/** Makes a text in the language of the page. */
export type Phrase = (texts: Texts) => string;

/**
 * Replaces the placeholders of a text.
 *
 * @example fill('{host} answers {status}', { host: 'a.example', status: 410 })
 */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** Returns the text for a code of the service or the player, or `undefined` for an unknown code. */
export const textFor = (texts: Texts, code: string): string | undefined =>
  Object.hasOwn(texts, code) ? texts[code as keyof Texts] : undefined;
