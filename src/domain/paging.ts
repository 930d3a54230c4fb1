import { z } from 'zod';
import { epochMs, isoMs } from './fields.ts';

/** Maximum and default number of records of a page (docs/protocol.md §1.6). */
const maxPage = 200;
const defaultPage = 50;

const limit = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, `must be 1 to ${maxPage}`)
  .max(maxPage, `must be 1 to ${maxPage}`)
  .default(defaultPage);

/** `?limit=` and `?cursor=`, parameters of every list. */
export const pageQuery = { limit, cursor: z.string().min(1, 'must not be empty').optional() };

/** `?name=` (exact) and `?search=` (substring), both without regard to case. */
export const nameQuery = { name: z.string().optional(), search: z.string().optional() };

/** `?waitSeconds=`: seconds for which a long poll may be held. */
export const waitSeconds = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, 'must be 1 to 30')
  .max(30, 'must be 1 to 30')
  .optional();

/** A time in a query, ISO 8601 or Unix epoch seconds, converted to milliseconds. */
export const timeQuery = z
  .string()
  .transform((text, context) => {
    const time = /^\d{1,15}$/.test(text) ? epochMs(Number(text)) : isoMs(text);
    if (!Number.isNaN(new Date(time).getTime())) return time;
    context.addIssue({
      code: 'custom',
      message: 'must be ISO 8601 (2026-11-20T12:00:00Z) or Unix epoch seconds',
    });
    return z.NEVER;
  })
  .optional();

/** Returns the schema of a list of items. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** One page of a list. `nextCursor` is `null` on the last page. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
