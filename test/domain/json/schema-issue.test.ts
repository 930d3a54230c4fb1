import { expect, it } from 'vitest';
import { z } from 'zod';
import { wrongMembers } from '../../../src/domain/json/schema-issue.ts';

it.each<[z.ZodType, unknown, string]>([
  [z.strictObject({}), [], 'must be an object'],
  [z.record(z.string(), z.string()), 5, 'must be an object'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.string(), 1, 'must be a string'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.number().min(2), 1, 'must be at least 2'],
  [z.string().max(2), 'abc', 'must have at most 2'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
  [z.literal(1), 2, 'must be 1'],
  [z.string().regex(/x/), 'y', 'is not valid'],
  [z.string('must be text'), 1, 'must be text'],
])('replaces a message that zod made: %#', (schema, value, message) => {
  const issues = schema.safeParse(value).error?.issues ?? [];
  const [wrong] = issues.flatMap((issue) => wrongMembers(issue, 'is unknown'));
  expect(wrong?.message).toBe(message);
});
