import fc from 'fast-check';
import { hostileBodies, hostileTexts, hostileValues } from './hostile-values.ts';
import { sometimes } from './json-arbitrary.ts';

/** JSON text that is inserted unchanged, for values that JavaScript cannot represent. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes JSON. Lone surrogates are escaped, because UTF-8 cannot encode them. */
function write(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}:${write(one)}`,
  );
  return `{${members.join(',')}}`;
}

/** A replaceable place in a value. */
interface Slot {
  holder: object;
  name: string;
  value: unknown;
}

function slots(holder: unknown): Slot[] {
  if (typeof holder !== 'object' || holder === null || holder instanceof Raw) return [];
  return Object.entries(holder).flatMap(([name, value]) => [
    { holder, name, value },
    ...slots(value),
  ]);
}

/** Defines a member, also one named `__proto__`. */
const put = (holder: object, name: string, value: unknown) =>
  Object.defineProperty(holder, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });

const hostile = [...hostileTexts, ...hostileValues.map((text) => new Raw(text))];
const extraNames = ['id', 'tenantId', 'state', 'role', 'hash', 'extra', 'a'.repeat(300), 'naïve/~'];

const change = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'add', 'drop', 'retype', 'double'),
  place: fc.nat(),
  value: fc.oneof(fc.constantFrom(...hostile), fc.jsonValue(), fc.string({ unit: 'binary' })),
  name: fc.constantFrom(...extraNames, ...hostileTexts),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(root: object, { kind, place, value, name: added }: Change): void {
  const all = slots(root);
  const slot = all[place % all.length];
  if (!slot) return;
  const { holder, name, value: before } = slot;
  if (kind === 'replace') put(holder, name, value);
  else if (kind === 'add') put(Array.isArray(holder) ? root : holder, added, value);
  else if (kind === 'double') put(holder, name, [before, before]);
  else if (kind === 'retype')
    put(holder, name, typeof before === 'string' ? Number(before) : write(before));
  else if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete (holder as Record<string, unknown>)[name];
}

/** Returns JSON texts with one to three defects. */
function spoilt(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  return fc.tuple(valid, changes).map(([value, all]) => {
    const copy: { root?: unknown } = { root: structuredClone(value) };
    for (const one of all) apply(copy, one);
    return 'root' in copy ? write(copy.root) : '';
  });
}

/** Truncates texts, flips a byte, or repeats a member. */
const garbled = (texts: fc.Arbitrary<string>): fc.Arbitrary<string | Buffer> =>
  fc.tuple(texts, fc.nat(), fc.nat(255), fc.nat(2)).map(([text, place, byte, kind]) => {
    if (kind === 0) return text.replace(/("[^"]*":)([^,{}[\]]*)/, '$1$2,$1$2');
    const bytes = Buffer.from(text);
    const at = place % (bytes.length + 1);
    if (kind === 1) return bytes.subarray(0, at);
    if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

/** Returns bodies that are invalid in a few places, or no JSON. */
export function spoiltBodies(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string | Buffer> {
  const texts = spoilt(valid);
  return sometimes<string | Buffer>(
    20,
    fc.oneof(garbled(texts), fc.constantFrom(...hostileBodies)),
    texts,
  );
}
