import { z } from 'zod';

/**
 * A schema whose input is counted before any part of it is judged: to judge 300,000 elements, only to say that there may be 100, would cost seconds.
 * The schema has the same bounds, for those who read it.
 */
function counted<T extends z.ZodType>(schema: T, isWithin: (value: object) => boolean, message: string) {
  return z.preprocess((value: z.input<T>, context) => {
    if (typeof value !== 'object' || value === null || isWithin(value)) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }, schema);
}

/** A list with `min` to `max` elements, which is counted first. `message` says so. */
export function countedList<T extends z.ZodType>(element: T, { min, max, message }: { min: number; max: number; message: string }) {
  const list = z.array(element, message).min(min, message).max(max, message);
  return counted(list, (value) => !Array.isArray(value) || (value.length >= min && value.length <= max), message);
}

/** Whether an object has at most `max` members; looks at no more of them. */
function hasAtMost(value: object, max: number): boolean {
  let count = 0;
  for (const _ in value) if (++count > max) return false;
  return true;
}

/** A map with at most `max` members, which are counted first. `message` says so. */
export function countedMap<T extends z.ZodType>(map: T, { max, message }: { max: number; message: string }) {
  return counted(map, (value) => hasAtMost(value, max), message);
}
