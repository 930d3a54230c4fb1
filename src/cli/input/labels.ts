import { usage } from './settings.ts';

/** Separates labels in the form of `-o csv`: `floor=2, wing=east`. */
export const labelPart = /,\s*(?=[^,=]+=)/;

/** Parses labels such as `floor=2`. Throws `usage` for a label in another form. */
export function readLabels(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(texts.map(readLabel));
}

function readLabel(text: string): [key: string, value: string] {
  if (text.startsWith('__proto__=')) throw usage('A label cannot be called __proto__.');
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`A label is written key=value, such as floor=2, not "${text}".`);
}

/** New values of labels by key. `null` removes a label. */
export type LabelChanges = Record<string, string | null>;

/** Parses changes to labels: `floor=2` sets a label, `floor=` and `floor-` remove it. */
export function readLabelChanges(texts: readonly string[]): LabelChanges {
  const changes = texts.map((text): [string, string | null] => {
    if (/^[^=]+-$/.test(text)) return [text.slice(0, -1), null];
    const [key, value] = readLabel(text);
    return [key, value === '' ? null : value];
  });
  return Object.fromEntries(changes);
}

/** Prints a note for each label that cannot be removed, because the record does not have it. */
export function noteAbsentLabels(
  note: (text: string) => void,
  labels: Record<string, string>,
  changes: LabelChanges,
): void {
  for (const [key, value] of Object.entries(changes))
    if (value === null && !Object.hasOwn(labels, key))
      note(`There is no label "${key}" to remove.`);
}

/** Returns the `label` filters for the API: `floor=2` becomes `floor:2`. */
export function labelFilters(texts: readonly string[]): string[] {
  return texts.map((text) => readLabel(text).join(':'));
}
