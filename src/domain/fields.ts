import { z } from 'zod';

/** An id that we are given, or give: any 8-4-4-4-12 hex UUID, compared without regard to case, kept in lower case (docs/protocol.md §1.2). */
export const recordId = z
  .guid('must be a UUID')
  .toLowerCase()
  .meta({ example: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e' });

/** A record's time: ISO 8601 UTC with milliseconds. */
export const isoTime = z
  .string()
  .meta({ format: 'date-time', example: '2026-11-20T12:00:00.000Z' });

const isoForm = /^(\d{4}-\d{2}-(\d{2}))(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/** A time in a query or body, ISO 8601 with a zone, in milliseconds; a day alone is its UTC midnight. `NaN` for what is none. */
export function isoMs(text: string): number {
  const [, day = '', ofMonth] = isoForm.exec(text) ?? [];
  // `Date` takes 30 February for 2 March.
  return new Date(day).getUTCDate() === Number(ofMonth) ? Date.parse(text) : Number.NaN;
}

/** Such a time in a body; comes out in milliseconds. */
export const isoInput = z
  .string('must be ISO 8601 (2026-11-20T12:00:00Z)')
  .transform((text, context) => {
    const time = isoMs(text);
    if (!Number.isNaN(time)) return time;
    context.addIssue({ code: 'custom', message: 'must be ISO 8601 (2026-11-20T12:00:00Z)' });
    return z.NEVER;
  })
  .meta({ example: '2026-11-20T12:00:00Z' });

/** From this on a timestamp that comes in is taken for milliseconds (docs/protocol.md §1.2). */
const firstMilliseconds = 100_000_000_000;

/** A time as TVs and publishers send it: whole Unix epoch seconds, or milliseconds from 10^11 on. */
export const epochTime = z
  .number('must be a whole number: Unix epoch seconds')
  .int('must be a whole number: Unix epoch seconds')
  .min(0, 'must not be negative')
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ example: 1760000000 });

/** Such a time in milliseconds. */
export function epochMs(time: number): number {
  return time >= firstMilliseconds ? time : time * 1000;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const noControls = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** Characters are code points, as JSON Schema counts them: an emoji is one. */
function hasAtMost(max: number): (text: string) => boolean {
  return (text) => text.length <= max || (text.length <= 2 * max && [...text].length <= max);
}

/**
 * Characters that nobody sees, or that turn the direction of the text after them: with them two names look alike. The joiners U+200C and U+200D stay, for
 * scripts and emoji need them.
 */
const noInvisibles =
  /^[^\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]*$/;

/** A name as a record may have it from an earlier version of the service: 1–200 characters, NFC, trimmed, no control characters, no `/`. */
export const storedName = z
  .string('must be a string')
  .normalize('NFC')
  .trim()
  .min(1, 'must not be empty')
  .refine(hasAtMost(200), 'must have at most 200 characters')
  .regex(noControls, 'must not contain control characters')
  .regex(/^[^/]*$/, 'must not contain "/"')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

/** What people call a record: such a name, without invisible characters (docs/protocol.md §5.1). */
export const recordName = storedName
  .regex(
    noInvisibles,
    'must not contain invisible characters, or marks that turn the direction of text',
  )
  .meta({ example: 'Lobby', maxLength: 200 });

/** How names are compared: without regard to case. */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** Free text of bounded length. */
export function freeText(max: number) {
  return z
    .string('must be a string')
    .refine(hasAtMost(max), `must have at most ${max} characters`)
    .meta({ maxLength: max });
}

const labelKey = z
  .string()
  .min(1, 'must not be empty')
  .refine(hasAtMost(100), 'must have at most 100 characters')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  .regex(/^[^:\u0000-\u001f\u007f-\u009f]*$/, 'must not contain ":" or control characters');

const labelValue = freeText(200).regex(noControls, 'must not contain control characters');

/** A record has at most this many labels. */
export const maxLabels = 64;

/** Whether an object has at most `max` members; looks at no more of them. */
function hasAtMostMembers(value: object, max: number): boolean {
  let count = 0;
  for (const _ in value) if (++count > max) return false;
  return true;
}

/** A map whose members are counted before any of them is judged. Of arrays, zod does so itself. */
function countedMap<T extends z.ZodType>(map: T, max: number, message: string) {
  return z.preprocess((value: z.input<T>, context) => {
    if (typeof value !== 'object' || value === null || hasAtMostMembers(value, max)) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }, map);
}

/** Labels: a map of strings by which people select records (`label=floor:2`). */
export const labels = countedMap(
  z.record(labelKey, labelValue),
  maxLabels,
  `must have at most ${maxLabels} labels`,
).meta({
  example: { floor: '2' },
});

/** A merge patch can take all labels away, and set as many others. */
const mostPatched = 2 * maxLabels;

/** In a merge patch, a label set to `null` goes, and `null` for the map empties it (RFC 7396). */
export const labelsPatch = countedMap(
  z.record(labelKey, labelValue.nullable()),
  mostPatched,
  `must name at most ${mostPatched} labels`,
).nullable();
