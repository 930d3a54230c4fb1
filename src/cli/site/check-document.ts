import type { z } from 'zod';
import type { FieldError } from '../../domain/error.ts';
import type { Path, SourceDocument } from './source-document.ts';

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? inner[part as keyof typeof inner] : undefined,
    value,
  );
}

/** Adds a hint to numbers and booleans that must be strings, a common mistake in YAML labels. */
function quoteHint(message: string, value: unknown): string {
  const isMeant = message === 'must be a string' && ['number', 'boolean'].includes(typeof value);
  return isMeant ? `${message}: put it in quotes, "${value}"` : message;
}

function fieldErrorsOf(issue: z.core.$ZodIssue, document: SourceDocument): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      document.complaint([...issue.path, key], 'is not a known entry: check the spelling'),
    );
  }
  const value = valueAt(document.value, issue.path);
  const message =
    issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const isMissing = value === undefined && issue.path.length > 0;
  return [document.complaint(issue.path, isMissing ? 'is missing' : quoteHint(message, value))];
}

/**
 * Validates a document against a schema. Adds one error for each invalid place to `fieldErrors` and
 * returns `undefined`.
 */
export function checkDocument<S extends z.ZodType>(
  schema: S,
  document: SourceDocument,
  fieldErrors: FieldError[],
): z.output<S> | undefined {
  const result = schema.safeParse(document.value);
  if (result.success) return result.data;
  const seen = new Set<string>();
  for (const complaint of result.error.issues.flatMap((issue) => fieldErrorsOf(issue, document))) {
    if (!seen.has(complaint.path)) fieldErrors.push(complaint);
    seen.add(complaint.path);
  }
  return undefined;
}
