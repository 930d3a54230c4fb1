import { usage } from './settings.ts';

/** Labels as they are typed: `floor=2`. Throws `usage` for what is none. */
export function readLabels(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(texts.map(readLabel));
}

function readLabel(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`A label is written key=value, such as floor=2, not "${text}".`);
}

/** Changes to labels: `floor=2` sets one, `floor=` and `floor-` remove it. */
export function readLabelChanges(texts: readonly string[]): Record<string, string | null> {
  const changes = texts.map((text): [string, string | null] => {
    if (/^[^=]+-$/.test(text)) return [text.slice(0, -1), null];
    const [key, value] = readLabel(text);
    return [key, value === '' ? null : value];
  });
  return Object.fromEntries(changes);
}

/** The `label` filters of a list: `floor=2` as the interface has it, `floor:2`. */
export function labelFilters(texts: readonly string[]): string[] {
  return texts.map((text) => readLabel(text).join(':'));
}
