import { z } from 'zod';
import { isoMs } from './fields.ts';

/** The most that one page of a list holds, and what it holds unless asked (docs/protocol.md §1.6). */
const maxPage = 200;
const defaultPage = 50;

const limit = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, `must be 1 to ${maxPage}`)
  .max(maxPage, `must be 1 to ${maxPage}`)
  .default(defaultPage);

/** `?limit=` and `?cursor=`, on every list. */
export const pageQuery = { limit, cursor: z.string().min(1, 'must not be empty').optional() };

/** `?name=` (exact) and `?search=` (part), both without regard to case. */
export const nameQuery = { name: z.string().optional(), search: z.string().optional() };

/** `?waitSeconds=`: how long an answer may be held until there is something to say. */
export const waitSeconds = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, 'must be 1 to 30')
  .max(30, 'must be 1 to 30')
  .optional();

/** A point in time in a query: ISO 8601, or Unix epoch seconds; comes out in milliseconds. */
export const timeQuery = z
  .string()
  .transform((text, context) => {
    const time = /^\d{1,15}$/.test(text) ? epochQueryMs(Number(text)) : isoMs(text);
    if (!Number.isNaN(new Date(time).getTime())) return time;
    context.addIssue({
      code: 'custom',
      message: 'must be ISO 8601 (2026-11-20T12:00:00Z) or Unix epoch seconds',
    });
    return z.NEVER;
  })
  .optional();

function epochQueryMs(time: number): number {
  return time >= 100_000_000_000 ? time : time * 1000;
}

/** The envelope of every list. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** One page of a list: `nextCursor` is `null` on the last. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
