import type { FuzzRandom } from './random.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas are walked as the JSON that they are.
export type Schema = any;

const hex = '0123456789abcdef';
export const guid = (fuzzRandom: FuzzRandom) =>
  [8, 4, 4, 4, 12].map((length) => fuzzRandom.text(hex, length, length)).join('-');
const word = (fuzzRandom: FuzzRandom) =>
  fuzzRandom.text('abcdefghijklmnopqrstuvwxyzäöüß ', 1, 24).trim() || 'x';
const day = (fuzzRandom: FuzzRandom) =>
  `20${fuzzRandom.whole(10, 99)}-0${fuzzRandom.whole(1, 9)}-${fuzzRandom.whole(10, 28)}`;

/** Texts for the patterns of the document. A new pattern needs an entry. */
const byPattern: Record<string, (fuzzRandom: FuzzRandom) => string> = {
  '^[A-Z0-9]{8}$': (fuzzRandom) => fuzzRandom.text('ABCDEFGHJKMNPQRSTUVWXYZ23456789', 8, 8),
  '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$': guid,
  '^[^:]+:': (fuzzRandom) => `${word(fuzzRandom)}:${word(fuzzRandom)}`,
  '^[a-z0-9._-]{1,64}$': (fuzzRandom) =>
    fuzzRandom.one([
      'impression',
      'heartbeat',
      'log',
      'app_started',
      fuzzRandom.text('abc019._-', 1, 64),
    ]),
  '^\\d{4}-\\d{2}-\\d{2}$': day,
  '^(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})$': (fuzzRandom) =>
    Array.from({ length: 6 }, () => fuzzRandom.text(hex, 2, 2)).join(fuzzRandom.one([':', '-'])),
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*$': word,
  '^[^/\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff]*$':
    word,
  '^[hH][tT][tT][pP][sS]?:': (fuzzRandom) =>
    `https://media.example.com/${fuzzRandom.text('abc', 1, 30)}.mp4`,
  '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$': (fuzzRandom) =>
    fuzzRandom.one(['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'america/new_york', 'Asia/Kolkata']),
  '^[^:\\u0000-\\u001f\\u007f-\\u009f]*$': word,
  '^[!-~]{16,255}$': (fuzzRandom) => fuzzRandom.text('abcdefghijkl-0123456789', 16, 40),
};

const byFormat: Record<string, (fuzzRandom: FuzzRandom) => string> = {
  uuid: guid,
  'date-time': (fuzzRandom) => `${day(fuzzRandom)}T12:00:00.000Z`,
  ipv4: (fuzzRandom) => Array.from({ length: 4 }, () => fuzzRandom.whole(0, 255)).join('.'),
  ipv6: (fuzzRandom) => `2001:db8::${fuzzRandom.text(hex, 1, 4)}`,
};

function growText(
  { pattern, format, minLength = 0, maxLength = 40 }: Schema,
  fuzzRandom: FuzzRandom,
): string {
  if (pattern !== undefined) {
    const grow = byPattern[pattern];
    if (!grow)
      throw new Error(`There is no text known for the pattern ${pattern}: give it one here.`);
    return grow(fuzzRandom);
  }
  const formed = format === undefined ? undefined : byFormat[format];
  if (formed) return formed(fuzzRandom);
  return fuzzRandom.happens(0.1) && minLength === 0 ? '' : word(fuzzRandom).slice(0, maxLength);
}

function growNumber(
  { type, minimum, exclusiveMinimum = minimum, maximum }: Schema,
  fuzzRandom: FuzzRandom,
): number {
  const least = exclusiveMinimum ?? -1000;
  // Such integers are times, mostly near the current one.
  const most =
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? maximum
      : fuzzRandom.one([least + 1000, 1_760_000_000, 1_795_000_000, 4_000_000_000]);
  if (type === 'integer') return fuzzRandom.whole(Math.ceil(least), Math.max(least, most));
  return Math.max(least + 0.001, fuzzRandom.whole(Math.ceil(least), most));
}

/** Generates valid values for schemas. `known` offers existing ids by member name. */
export class Grower {
  readonly #document: Schema;
  readonly #known: (name: string, fuzzRandom: FuzzRandom) => string | undefined;

  constructor(
    document: Schema,
    known: (name: string, fuzzRandom: FuzzRandom) => string | undefined,
  ) {
    this.#document = document;
    this.#known = known;
  }

  resolve(schema: Schema): Schema {
    if (!schema?.$ref) return schema ?? {};
    return schema.$ref
      .slice(2)
      .split('/')
      .reduce((at: Schema, part: string) => at[part], this.#document);
  }

  grow(given: Schema, fuzzRandom: FuzzRandom, name = ''): unknown {
    const schema = this.resolve(given);
    if (schema.anyOf)
      return this.grow(
        fuzzRandom.happens(0.8) ? schema.anyOf[0] : fuzzRandom.one(schema.anyOf),
        fuzzRandom,
        name,
      );
    const known = this.#known(name, fuzzRandom);
    if (known !== undefined && fuzzRandom.happens(0.8))
      return schema.type === 'array' ? [known] : known;
    if (schema.enum) return fuzzRandom.one(schema.enum);
    if ('const' in schema) return schema.const;
    if (schema.type === 'object') return this.#growObject(schema, fuzzRandom);
    if (schema.type === 'array') return this.#growArray(schema, fuzzRandom);
    if (schema.type === 'integer' || schema.type === 'number')
      return growNumber(schema, fuzzRandom);
    if (schema.type === 'string') return growText(schema, fuzzRandom);
    if (schema.type === 'boolean') return fuzzRandom.happens(0.5);
    return schema.type === 'null' ? null : fuzzRandom.one([null, 1, 'x', true]);
  }

  #growObject(
    { properties = {}, required = [], additionalProperties: others, propertyNames }: Schema,
    fuzzRandom: FuzzRandom,
  ): object {
    const names = Object.keys(properties).filter(
      (name) => required.includes(name) || fuzzRandom.happens(0.7),
    );
    const members = names.map((name): [string, unknown] => [
      name,
      this.grow(properties[name], fuzzRandom, name),
    ]);
    if (!others || typeof others !== 'object') return Object.fromEntries(members);
    const more = Array.from({ length: fuzzRandom.whole(0, 3) }, () => [
      this.grow(propertyNames ?? { type: 'string' }, fuzzRandom),
      this.grow(others, fuzzRandom),
    ]);
    return Object.fromEntries([...members, ...more]);
  }

  #growArray({ items, minItems = 0, maxItems = 5 }: Schema, fuzzRandom: FuzzRandom): unknown[] {
    // At the limit, only the number of items matters.
    if (fuzzRandom.happens(0.06))
      return Array(fuzzRandom.one([0, maxItems, maxItems + 1])).fill(this.grow(items, fuzzRandom));
    return Array.from(
      { length: fuzzRandom.whole(minItems, Math.min(maxItems, minItems + 3)) },
      () => this.grow(items, fuzzRandom),
    );
  }
}
