import { z } from 'zod';

/**
 * Returns a schema that validates each value with the schema that `choose` returns for this value.
 * Avoids `z.union`, because zod reports little about a failed union.
 */
export function chosenBy<T>(choose: (value: unknown) => z.ZodType<T>) {
  return z.unknown().transform((value, context): T => {
    const result = choose(value).safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues)
      context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return z.NEVER;
  });
}
