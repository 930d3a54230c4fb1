import { nastyBodies, nastyNumbers, nastyTexts, nastyValues } from './nasty-values.ts';
import type { FuzzRandom } from './random.ts';

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

function nasty(fuzzRandom: FuzzRandom): unknown {
  const kind = fuzzRandom.whole(0, 2);
  if (kind === 0) return fuzzRandom.one(nastyTexts);
  return new Raw(fuzzRandom.one(kind === 1 ? nastyNumbers : nastyValues));
}

type Slot = { put(value: unknown): void; drop(): void; value: unknown };

/** Returns every replaceable place in a value. */
function slots(value: unknown, found: Slot[] = []): Slot[] {
  if (typeof value !== 'object' || value === null || value instanceof Raw) return found;
  for (const name of Object.keys(value)) {
    const holder = value as Record<string, unknown>;
    found.push({
      value: holder[name],
      put: (other) =>
        Object.defineProperty(holder, name, {
          value: other,
          enumerable: true,
          configurable: true,
          writable: true,
        }),
      drop: () => void (Array.isArray(value) ? value.splice(Number(name), 1) : delete holder[name]),
    });
    slots(holder[name], found);
  }
  return found;
}

const extraNames = [
  'id',
  'tenantId',
  'state',
  'role',
  'hash',
  'extra',
  'constructor',
  'toString',
  '',
  'a'.repeat(300),
  '\u0000',
  '\ud800',
  'naïve/~',
];

function addMember(value: unknown, fuzzRandom: FuzzRandom): void {
  const objects = [value, ...slots(value).map((slot) => slot.value)].filter(
    (one): one is Record<string, unknown> =>
      typeof one === 'object' && one !== null && !Array.isArray(one) && !(one instanceof Raw),
  );
  if (objects.length === 0) return;
  const name = fuzzRandom.happens(0.3) ? fuzzRandom.one(nastyTexts) : fuzzRandom.one(extraNames);
  Object.defineProperty(fuzzRandom.one(objects), name, {
    value: nasty(fuzzRandom),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Returns the value with one to three defects, as JSON text. */
function spoilt(value: unknown, fuzzRandom: FuzzRandom): string {
  const copy = { root: structuredClone(value) };
  for (let left = fuzzRandom.whole(1, 3); left > 0; left--) {
    const kind = fuzzRandom.whole(0, 9);
    const places = slots(copy);
    if (places.length === 0) return '';
    const slot = fuzzRandom.one(places);
    if (kind < 5) slot.put(nasty(fuzzRandom));
    else if (kind < 7) addMember(copy.root, fuzzRandom);
    else if (kind < 8) slot.drop();
    else if (kind < 9)
      slot.put(typeof slot.value === 'string' ? Number(slot.value) : write(slot.value));
    else slot.put([slot.value, slot.value]);
  }
  return 'root' in copy ? write(copy.root) : '';
}

/** Duplicates a member, truncates the text, or flips a byte. */
function garbled(text: string, fuzzRandom: FuzzRandom): string | Buffer {
  const kind = fuzzRandom.whole(0, 3);
  if (kind === 0) return text.replace(/("[^"]*":)([^,{}[\]]*)/, '$1$2,$1$2');
  if (kind === 1) return text.slice(0, fuzzRandom.whole(0, text.length));
  if (kind === 2) return fuzzRandom.one(nastyBodies);
  const bytes = Buffer.from(text);
  if (bytes.length > 0) bytes[fuzzRandom.whole(0, bytes.length - 1)] = fuzzRandom.whole(0, 255);
  return bytes;
}

/** Returns a mutated body. */
export function spoilBody(value: unknown, fuzzRandom: FuzzRandom): string | Buffer {
  if (fuzzRandom.happens(0.003)) return `[${'"x",'.repeat(300_000)}1]`;
  const text = spoilt(value, fuzzRandom);
  return fuzzRandom.happens(0.2) ? garbled(text, fuzzRandom) : text;
}

/** Returns the value with each invalid value in each place, one at a time, as JSON text. */
export function* eachSpoilt(value: unknown): Generator<string> {
  const nasties = [
    ...nastyTexts,
    ...[...nastyNumbers, ...nastyValues].map((text) => new Raw(text)),
  ];
  const count = slots({ root: value }).length;
  for (let place = 1; place < count; place++) {
    for (const one of nasties) {
      const copy = { root: structuredClone(value) };
      slots(copy)[place]?.put(one);
      yield write(copy.root);
    }
  }
}
