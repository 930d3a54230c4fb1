const proto = '__proto__';

function* pathsIn(value: unknown, path: readonly PropertyKey[]): Generator<PropertyKey[]> {
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const name of Object.keys(value)) {
    if (name === proto) yield [...path, name];
    else {
      const inner: unknown = value[name as keyof typeof value];
      if (typeof inner === 'object') yield* pathsIn(inner, [...path, isList ? Number(name) : name]);
    }
  }
}

/** Returns the paths of all members that are named `__proto__`, in what a text was parsed into. */
export function protoPaths(text: string, value: unknown): PropertyKey[][] {
  // An escape may hide the name.
  return text.includes(proto) || text.includes('\\') ? [...pathsIn(value, [])] : [];
}

/** An escaped letter of the name. */
const escaped = /\\u00(?:5f|6f|70|72|74)/i;

/** Like `protoPaths`, of a valid JSON text. Parses it only if it may have such a member. */
export function protoMembers(text: string): PropertyKey[][] {
  return text.includes(proto) || escaped.test(text) ? protoPaths(text, JSON.parse(text)) : [];
}
