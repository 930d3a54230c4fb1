import type { z } from 'zod';
import type { FieldError } from '../../domain/error.ts';
import { wrongMembers } from '../../domain/json/schema-issue.ts';
import type { OddNumber, Path, SourceDocument } from './source-document.ts';

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? inner[part as keyof typeof inner] : undefined,
    value,
  );
}

/** Adds a hint to numbers and booleans that must be strings, a common mistake in YAML labels. */
function quoteHint(message: string, value: unknown, written: () => string | undefined): string {
  const isMeant = message === 'must be a string' && ['number', 'boolean'].includes(typeof value);
  if (!isMeant) return message;
  const text = written();
  return `${message}: put it in quotes${text === undefined ? '' : `, "${text}"`}`;
}

function fieldErrorsOf(issue: z.core.$ZodIssue, document: SourceDocument): FieldError[] {
  const isUnknown = issue.code === 'unrecognized_keys';
  return wrongMembers(issue, 'is not a known entry: check the spelling').map(
    ({ path, message }) => {
      const value = valueAt(document.value, path);
      const isMissing = value === undefined && path.length > 0 && !isUnknown;
      return document.complaint(
        path,
        isMissing && !message.startsWith('is missing')
          ? 'is missing'
          : quoteHint(message, value, () => document.written(path)),
      );
    },
  );
}

/** Returns a copy of a value in which an odd number is a number or, as written, a text. */
function withOdd(value: unknown, [name, ...rest]: Path, odd: OddNumber, isText: boolean): unknown {
  if (name === undefined)
    return value === odd.value || value === odd.written
      ? isText
        ? odd.written
        : odd.value
      : value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
  const inner = withOdd(value[name as keyof typeof value], rest, odd, isText);
  return Array.isArray(value) ? value.with(Number(name), inner) : { ...value, [name]: inner };
}

/**
 * Returns the value of a document in which odd numbers are as they are written, `1.10` as text,
 * except where the schema takes a number.
 */
export function valueAsWritten(schema: z.ZodType, { value, oddNumbers }: SourceDocument): unknown {
  if (oddNumbers.length === 0) return value;
  const withTexts = (isText: (odd: OddNumber) => boolean) =>
    oddNumbers.reduce((all, odd) => withOdd(all, odd.path, odd, isText(odd)), value);
  const { error } = schema.safeParse(withTexts(() => true));
  const isWrong = ({ path }: OddNumber) =>
    error?.issues.some((issue) => issue.path.every((part, at) => part === path[at])) ?? false;
  return withTexts((odd) => !isWrong(odd));
}

/** Parses a document, with odd numbers as in `valueAsWritten`. */
export const parseAsWritten = <S extends z.ZodType>(schema: S, document: SourceDocument) =>
  schema.safeParse(valueAsWritten(schema, document));

/**
 * Validates a document against a schema. If it is invalid, adds the first error of each member to
 * `fieldErrors`, and returns `undefined`.
 */
export function checkDocument<S extends z.ZodType>(
  schema: S,
  document: SourceDocument,
  fieldErrors: FieldError[],
): z.output<S> | undefined {
  const result = parseAsWritten(schema, document);
  if (result.success) return result.data;
  const seen = new Set<string>();
  for (const complaint of result.error.issues.flatMap((issue) => fieldErrorsOf(issue, document))) {
    if (!seen.has(complaint.path)) fieldErrors.push(complaint);
    seen.add(complaint.path);
  }
  return undefined;
}
