import { isDeepStrictEqual } from 'node:util';
import type { AttributeName, Attributes } from './site-schema.ts';

/** One difference between a record and the files. `null` means absent. */
export interface Difference {
  /** Path of the member: `address`, `labels.floor`, `playlist.items[2].duration`. */
  member: string;
  from: unknown;
  to: unknown;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Compares two values recursively while their structure is equal. */
function* differencesWithin(member: string, from: unknown, to: unknown): Generator<Difference> {
  if (isDeepStrictEqual(from, to)) return;
  if (isMap(from) && isMap(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
      yield* differencesWithin(`${member}.${key}`, from[key], to[key]);
  } else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [at, one] of from.entries())
      yield* differencesWithin(`${member}[${at}]`, one, to[at]);
  } else yield { member, from: from ?? null, to: to ?? null };
}

const attributeNames: readonly AttributeName[] = [
  'name',
  'address',
  'timezone',
  'labels',
  'config',
  'playlist',
];
const isNothing = (value: unknown) =>
  value === null || value === undefined || (isMap(value) && Object.keys(value).length === 0);

/** Returns the attributes that differ. Skips attributes that the files do not set. */
export function differingAttributes(current: Attributes, wanted: Attributes): AttributeName[] {
  return attributeNames.filter((name) => {
    const to = wanted[name];
    return (
      to !== undefined && !isDeepStrictEqual(current[name] ?? (name === 'labels' ? {} : null), to)
    );
  });
}

/** Returns all differences between a record and the files. */
export function differences(current: Attributes, wanted: Attributes): Difference[] {
  return differingAttributes(current, wanted).flatMap((name) => [
    ...differencesWithin(name, current[name] ?? undefined, wanted[name] ?? undefined),
  ]);
}

/** Returns the differences of a record that does not exist yet. */
export function initialDifferences(wanted: Attributes): Difference[] {
  return attributeNames
    .filter((name) => !isNothing(wanted[name]))
    .map((name) => ({ member: name, from: null, to: wanted[name] }));
}
