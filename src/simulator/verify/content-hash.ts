import { hash } from 'node:crypto';

const hashBytes = 6;

/** Sorts the members of all objects, because stores may reorder them. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, inner]) => [name, sortMembers(inner)]);
}

/**
 * Returns a 48-bit hash of an event's content. Collisions among the thousands of events of
 * one TV are negligible.
 */
export function contentHash(event: object): number {
  return hash('sha256', JSON.stringify(sortMembers(event)), 'buffer').readUIntBE(0, hashBytes);
}
