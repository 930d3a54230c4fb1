import { isDeepStrictEqual } from 'node:util';
import type { AttributeName, Attributes } from './site.ts';

/** One place where a record is not what the files say. `null` is none. */
export interface Difference {
  /** `address`, `labels.floor`, `playlist.items[2].duration`. */
  member: string;
  from: unknown;
  to: unknown;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What differs differencesWithin a member: down to single values, as long as the two are built alike. */
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

/** The attributes that are not as they are wanted; of what is not wanted nothing is said. */
export function differingAttributes(current: Attributes, wanted: Attributes): AttributeName[] {
  return attributeNames.filter((name) => {
    const to = wanted[name];
    return (
      to !== undefined && !isDeepStrictEqual(current[name] ?? (name === 'labels' ? {} : null), to)
    );
  });
}

/** What must change for a record to be as it is wanted. */
export function differences(current: Attributes, wanted: Attributes): Difference[] {
  return differingAttributes(current, wanted).flatMap((name) => [
    ...differencesWithin(name, current[name] ?? undefined, wanted[name] ?? undefined),
  ]);
}

/** What a record that is not there yet gets. */
export function initialDifferences(wanted: Attributes): Difference[] {
  return attributeNames
    .filter((name) => !isNothing(wanted[name]))
    .map((name) => ({ member: name, from: null, to: wanted[name] }));
}
