import { z } from 'zod';
import { isoMs } from './clock.ts';

/**
 * A record id, from the caller or the service: any 8-4-4-4-12 hex UUID. Ids are compared without
 * regard to case, and stored in lower case (docs/protocol.md §1.2).
 */
export const recordId = z
  .guid('must be a UUID')
  .toLowerCase()
  .meta({ example: '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e' });

/** The time format of records: ISO 8601 UTC with milliseconds. */
export const isoTime = z
  .string()
  .meta({ format: 'date-time', example: '2026-11-20T12:00:00.000Z' });

/** An ISO 8601 time in a body, converted to milliseconds. */
export const isoInput = z
  .string('must be ISO 8601 (2026-11-20T12:00:00Z)')
  .transform((text, context) => {
    const time = isoMs(text);
    if (!Number.isNaN(time)) return time;
    context.addIssue({ code: 'custom', message: 'must be ISO 8601 (2026-11-20T12:00:00Z)' });
    return z.NEVER;
  })
  .meta({ format: 'date-time', example: '2099-12-31T23:00:00Z' });

/** Timestamps from this value on are milliseconds (docs/protocol.md §1.2). */
const firstMilliseconds = 100_000_000_000;

/** A time from TVs and publishers: whole Unix epoch seconds, or milliseconds from 10^11 on. */
export const epochTime = z
  .number('must be a whole number: Unix epoch seconds')
  .int('must be a whole number: Unix epoch seconds')
  .min(0, 'must not be negative')
  .max(Number.MAX_SAFE_INTEGER)
  .meta({
    description: 'Unix epoch seconds. 100,000,000,000 or more counts as milliseconds.',
    example: 1760000000,
  });

/** Converts a time in epoch seconds or milliseconds to milliseconds. */
export function epochMs(time: number): number {
  return time >= firstMilliseconds ? time : time * 1000;
}

const instantForm = 'must be Unix epoch seconds, or ISO 8601 with a zone (2026-12-24T18:00:00Z)';

/** Later times have no ISO form with a year of four digits. */
export const lastInstantMs = Date.UTC(9999, 11, 31, 23, 59, 59);

const timeOfDay = /^\d{1,2}:\d{2}(?::\d{2})?$/;

function instantMessage(text: string, advice: string): string {
  return timeOfDay.test(text) ? `is a time of day: ${advice}` : instantForm;
}

/**
 * An instant in a body: epoch seconds or ISO 8601, converted to milliseconds. `advice` says what to
 * write instead of a time of day, such as `11:00`.
 */
export const instantOr = (advice: string) =>
  z
    .union([epochTime, z.string()], instantForm)
    .transform((given, context) => {
      const time = typeof given === 'string' ? isoMs(given) : epochMs(given);
      if (time <= lastInstantMs) return time;
      const message = Number.isNaN(time)
        ? instantMessage(String(given), advice)
        : 'must be before the year 10000';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ description: 'Unix epoch seconds, or ISO 8601 with a zone.', example: 1_766_599_200 });

/** An instant in a body. */
export const instant = instantOr('add the date, such as 2026-12-24T18:00:00Z');

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are intended
const noControls = /^[^\u0000-\u001f\u007f-\u009f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are intended
const noControlsButBreaks = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/;
const controlsMessage = 'must not contain control characters';

function matches(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
}

/** Returns a length check that counts code points, as JSON Schema does. */
function hasAtMost(max: number): (text: string) => boolean {
  return (text) => text.length <= max || (text.length <= 2 * max && [...text].length <= max);
}

/**
 * Invisible characters, and characters that change the direction of text. They can make two
 * different names look alike. The joiners U+200C and U+200D are allowed, because scripts and emoji
 * need them.
 */
const noInvisibles =
  /^[^\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]*$/;

/**
 * Spaces, and letters, joiners and marks without a shape of their own. A name of only these looks
 * empty.
 */
const blanks =
  ' \\u00a0\\u034f\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200a\\u200c\\u200d\\u202f\\u205f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\uffa0';
const onlyBlanks = new RegExp(`^[${blanks}]*$`);

/** All rules for the characters of a name, as one pattern for the OpenAPI document. */
const nameCharacters = (alsoForbidden: string) =>
  `^(?![${blanks}]*$)` +
  `[^${alsoForbidden}\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff]*$`;

/** A name for people: 1–`max` characters, NFC, trimmed, no control or invisible characters. */
export function displayName(max: number) {
  return z
    .string('must be a string')
    .normalize('NFC')
    .trim()
    .min(1, 'must not be empty')
    .refine(hasAtMost(max), `must have at most ${max} characters`)
    .refine(matches(noControls), controlsMessage)
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
    .refine(
      matches(noInvisibles),
      'must not contain invisible characters, or marks that change the direction of text',
    )
    .refine((text) => !onlyBlanks.test(text), 'must contain a visible character')
    .meta({ maxLength: max, pattern: nameCharacters('') });
}

/** The name of a record: at most 200 characters, and no `/` (docs/protocol.md §5.1). */
export const recordName = displayName(200)
  .refine((text) => !text.includes('/'), 'must not contain "/"')
  .meta({
    description:
      'Unique in its scope, without regard to case and kinds of spaces. Stored in NFC, trimmed.',
    example: 'Lobby',
    maxLength: 200,
    pattern: nameCharacters('/'),
  });

/** Free text of a TV or a source of playlists, of at most `max` characters. */
export function freeText(max: number) {
  return z
    .string('must be a string')
    .refine(hasAtMost(max), `must have at most ${max} characters`)
    .meta({ maxLength: max });
}

/**
 * A line of text of an operator: names, reasons and labels reach terminals, mail and the
 * environment of programs.
 */
export const lineOfText = (max: number) => freeText(max).regex(noControls, controlsMessage);

/** Text of an operator that may have several lines. */
export const linesOfText = (max: number) =>
  freeText(max).regex(noControlsButBreaks, controlsMessage);

const labelKey = z
  .string()
  .min(1, 'must not be empty')
  .refine(hasAtMost(100), 'must have at most 100 characters')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are intended
  .regex(/^[^:\u0000-\u001f\u007f-\u009f]*$/, 'must not contain ":" or control characters');

const labelValue = lineOfText(200);

/** Maximum number of labels of a record. */
export const maxLabels = 64;

/** Returns whether an object has at most `max` members, without counting further. */
function hasAtMostMembers(value: object, max: number): boolean {
  let count = 0;
  for (const _ in value) if (++count > max) return false;
  return true;
}

/**
 * A map whose number of members is checked before the members. zod checks arrays in this order, but
 * not maps.
 */
function countedMap<T extends z.ZodType>(map: T, max: number, message: string) {
  return z.preprocess((value: z.input<T>, context) => {
    if (typeof value !== 'object' || value === null || hasAtMostMembers(value, max)) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }, map);
}

/** Labels: a map of strings for selecting records (`label=floor:2`). */
export const labels = countedMap(
  z.record(labelKey, labelValue),
  maxLabels,
  `must have at most ${maxLabels} labels`,
).meta({
  description: `A map of strings: at most ${maxLabels}, keys without ":".`,
  example: { floor: '2' },
  maxProperties: maxLabels,
});

/** Limit of labels in a merge patch, which may remove all labels and set as many new ones. */
const maxPatchedLabels = 2 * maxLabels;

/**
 * Labels in a merge patch: `null` removes a label, and `null` for the map removes all (RFC 7396).
 */
export const labelsPatch = countedMap(
  z.record(labelKey, labelValue.nullable()),
  maxPatchedLabels,
  `must name at most ${maxPatchedLabels} labels`,
)
  .meta({
    description: 'A merge patch: `null` removes a label, and `null` for the map removes all.',
    example: { floor: '3', wing: null },
    maxProperties: maxPatchedLabels,
  })
  .nullable();
