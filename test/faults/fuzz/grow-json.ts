import type { Dice } from './random.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas are walked as the JSON that they are.
export type Schema = any;

const hex = '0123456789abcdef';
export const guid = (dice: Dice) =>
  [8, 4, 4, 4, 12].map((length) => dice.text(hex, length, length)).join('-');
const word = (dice: Dice) => dice.text('abcdefghijklmnopqrstuvwxyzäöüß ', 1, 24).trim() || 'x';
const day = (dice: Dice) => `20${dice.whole(10, 99)}-0${dice.whole(1, 9)}-${dice.whole(10, 28)}`;

/** Texts that fit the patterns of the document. A new pattern needs an entry. */
const byPattern: Record<string, (dice: Dice) => string> = {
  '^[A-Z0-9]{8}$': (dice) => dice.text('ABCDEFGHJKMNPQRSTUVWXYZ23456789', 8, 8),
  '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$': guid,
  '^[^:]+:': (dice) => `${word(dice)}:${word(dice)}`,
  '^[a-z0-9._-]{1,64}$': (dice) =>
    dice.one(['impression', 'heartbeat', 'log', 'app_started', dice.text('abc019._-', 1, 64)]),
  '^\\d{4}-\\d{2}-\\d{2}$': day,
  '^(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})$': (dice) =>
    Array.from({ length: 6 }, () => dice.text(hex, 2, 2)).join(dice.one([':', '-'])),
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*$': word,
  '^[^/]*$': word,
  '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$': (dice) =>
    dice.one(['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'america/new_york', 'Asia/Kolkata']),
  '^[^:\\u0000-\\u001f\\u007f-\\u009f]*$': word,
  '^[!-~]{16,255}$': (dice) => dice.text('abcdefghijkl-0123456789', 16, 40),
};

const byFormat: Record<string, (dice: Dice) => string> = {
  uuid: guid,
  uri: (dice) => `https://media.example.com/${dice.text('abc', 1, 30)}.mp4`,
  'date-time': (dice) => `${day(dice)}T12:00:00.000Z`,
  ipv4: (dice) => Array.from({ length: 4 }, () => dice.whole(0, 255)).join('.'),
  ipv6: (dice) => `2001:db8::${dice.text(hex, 1, 4)}`,
};

function growText(
  { pattern, format, allOf, minLength = 0, maxLength = 40 }: Schema,
  dice: Dice,
): string {
  const form = pattern ?? allOf?.find((part: Schema) => part.pattern)?.pattern;
  if (form !== undefined) {
    const grow = byPattern[form];
    if (!grow) throw new Error(`There is no text known for the pattern ${form}: give it one here.`);
    return grow(dice);
  }
  const formed = format === undefined ? undefined : byFormat[format];
  if (formed) return formed(dice);
  return dice.happens(0.1) && minLength === 0 ? '' : word(dice).slice(0, maxLength);
}

function growNumber(
  { type, minimum, exclusiveMinimum = minimum, maximum }: Schema,
  dice: Dice,
): number {
  const least = exclusiveMinimum ?? -1000;
  // Times are such numbers: near ours, mostly.
  const most = maximum ?? dice.one([least + 1000, 1_760_000_000, 1_795_000_000, 4_000_000_000]);
  if (type === 'integer') return dice.whole(Math.ceil(least), Math.max(least, most));
  return Math.max(least + 0.001, dice.whole(Math.ceil(least), most));
}

/** Something that a schema allows, as a value; `known` offers ids that exist, by the name of the member. */
export class Grower {
  readonly #document: Schema;
  readonly #known: (name: string, dice: Dice) => string | undefined;

  constructor(document: Schema, known: (name: string, dice: Dice) => string | undefined) {
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

  grow(given: Schema, dice: Dice, name = ''): unknown {
    const schema = this.resolve(given);
    if (schema.anyOf)
      return this.grow(dice.happens(0.8) ? schema.anyOf[0] : dice.one(schema.anyOf), dice, name);
    const known = this.#known(name, dice);
    if (known !== undefined && dice.happens(0.8)) return schema.type === 'array' ? [known] : known;
    if (schema.enum) return dice.one(schema.enum);
    if ('const' in schema) return schema.const;
    if (schema.type === 'object') return this.#growObject(schema, dice);
    if (schema.type === 'array') return this.#growArray(schema, dice);
    if (schema.type === 'integer' || schema.type === 'number') return growNumber(schema, dice);
    if (schema.type === 'string') return growText(schema, dice);
    if (schema.type === 'boolean') return dice.happens(0.5);
    return schema.type === 'null' ? null : dice.one([null, 1, 'x', true]);
  }

  #growObject(
    { properties = {}, required = [], additionalProperties: others, propertyNames }: Schema,
    dice: Dice,
  ): object {
    const names = Object.keys(properties).filter(
      (name) => required.includes(name) || dice.happens(0.7),
    );
    const members = names.map((name): [string, unknown] => [
      name,
      this.grow(properties[name], dice, name),
    ]);
    if (!others || typeof others !== 'object') return Object.fromEntries(members);
    const more = Array.from({ length: dice.whole(0, 3) }, () => [
      this.grow(propertyNames ?? { type: 'string' }, dice),
      this.grow(others, dice),
    ]);
    return Object.fromEntries([...members, ...more]);
  }

  #growArray({ items, minItems = 0, maxItems = 5 }: Schema, dice: Dice): unknown[] {
    // At the limit it is how many there are that counts, not which.
    if (dice.happens(0.06))
      return Array(dice.one([0, maxItems, maxItems + 1])).fill(this.grow(items, dice));
    return Array.from({ length: dice.whole(minItems, Math.min(maxItems, minItems + 3)) }, () =>
      this.grow(items, dice),
    );
  }
}
