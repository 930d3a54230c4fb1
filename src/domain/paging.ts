import { z } from 'zod';
import { isoMs } from './clock.ts';
import { epochMs } from './fields.ts';
import { parseSelector } from './selector.ts';

/** Maximum and default number of records on a page (docs/protocol.md §1.6). */
const maxPage = 200;
const defaultPage = 50;

/** A whole number in a query, from 1 to `most`. `Number` alone would also take `1e1` and ` 5`. */
export function countUpTo(most: number) {
  const range = `must be 1 to ${most}`;
  return z.preprocess(
    (text) => (typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : undefined),
    z.number('must be a whole number, in digits only').int().min(1, range).max(most, range),
  );
}

const limit = countUpTo(maxPage)
  .default(defaultPage)
  .meta({ description: `The largest number of items on the page. Default: ${defaultPage}.` });

/** `?limit=` and `?cursor=`, parameters of every list. */
export const pageQuery = {
  limit,
  cursor: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page, with the same filters.' }),
};

/** `?name=` (exact) and `?search=` (substring), both without regard to case. */
export const nameQuery = {
  name: z.string().optional().meta({ description: 'The whole name, without regard to case.' }),
  search: z
    .string()
    .optional()
    .meta({ description: 'A part of the name, without regard to case.' }),
};

/**
 * Maximum number of conditions of all selectors of a request. Each record is checked against all of
 * them.
 */
const maxRequirements = 64;

/** `?selector=`. May be repeated: all must match. The error names the column. */
export const selectorQuery = z
  .union([z.string(), z.array(z.string())])
  .transform((given, context) => {
    try {
      const selector = [given].flat().flatMap(parseSelector);
      if (selector.length > maxRequirements)
        throw new Error(`has more than ${maxRequirements} conditions`);
      return selector;
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  })
  .optional()
  .meta({
    description:
      'Only screens with these labels, as in Kubernetes. `venue:city` is a label of the venue. May be repeated: all must match.',
    example: ['role=menu,city in (Accra,Kumasi),floor!=2,!test,venue:region=north'],
  });

/** A boolean in a query: `true` or `false`. */
export const booleanQuery = z
  .stringbool({
    truthy: ['true'],
    falsy: ['false'],
    case: 'sensitive',
    error: 'must be true or false',
  })
  .meta({ type: 'boolean' });

/** `?waitSeconds=`: seconds for which a long poll may be held, at most `most`. */
export function waitSecondsUpTo(most: number) {
  return countUpTo(most).optional().meta({
    description: 'Seconds for which the answer may be held until it changes.',
  });
}

/** `?waitSeconds=` of management operations. */
export const waitSeconds = waitSecondsUpTo(30);

/** A time in a query, ISO 8601 or Unix epoch seconds, converted to milliseconds. */
export const timeInQuery = z.string().transform((text, context) => {
  const time = /^\d{1,15}$/.test(text) ? epochMs(Number(text)) : isoMs(text);
  if (!Number.isNaN(new Date(time).getTime())) return time;
  context.addIssue({
    code: 'custom',
    message: 'must be ISO 8601 (2026-11-20T12:00:00Z) or Unix epoch seconds',
  });
  return z.NEVER;
});

const timeForms = 'ISO 8601 with a zone, a date, or Unix epoch seconds.';

/** `?from=` (inclusive) and `?to=` (exclusive). */
export const timeRangeQuery = {
  from: timeInQuery.optional().meta({
    description: `The start of the range, inclusive. ${timeForms}`,
    example: '2026-11-01',
  }),
  to: timeInQuery
    .optional()
    .meta({ description: `The end of the range, exclusive. ${timeForms}`, example: '2026-12-01' }),
};

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** One page of a list. `nextCursor` is `null` on the last page. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
