import { z } from 'zod';
import { secondMs } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { type Publication, publication } from '../../domain/playlists/playlist.ts';
import { configInput } from '../../domain/records/config.ts';
import { parseFault } from '../../faults/parse-fault.ts';

const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const durationMs = parseDuration(String(value));
  if (durationMs !== undefined) return durationMs;
  context.addIssue({ code: 'custom', message: 'must be a duration such as 90s, 5m, 2h or 7d' });
  return z.NEVER;
});

const rule = z
  .string('must be a fault rule such as lost-answer:events:5%')
  .superRefine((text, context) => {
    try {
      parseFault(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  });

/**
 * The schema is chosen by the type of the value. An error of `z.union` would only say that no
 * schema matches.
 */
const playlist = z.unknown().transform((value, context): string | Publication => {
  if (typeof value === 'string') return value;
  const result = publication.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
  return z.NEVER;
});

/**
 * Schema of a scenario file: the defaults of a run that command line options override. See
 * docs/simulate.md.
 */
export const scenario = z.strictObject(
  {
    about: z.string('must be a sentence').optional(),
    count: z
      .int('must be a whole number of TVs')
      .min(1, 'must be 1 or more')
      .max(100_000, 'must be at most 100000')
      .optional(),
    /** Life of each TV by its own clock. */
    life: duration.optional(),
    speed: z
      .union(
        [z.number().positive(), z.literal('max').transform(() => Number.POSITIVE_INFINITY)],
        'must be a number above 0, or max',
      )
      .optional(),
    ramp: duration.optional(),
    /** Interval of key rotation. */
    rotateEvery: duration
      .refine((durationMs) => durationMs >= secondMs, 'must be 1s or more')
      .optional(),
    profiles: z
      .array(z.string('must be the name of a profile'))
      .min(1, 'must name a profile')
      .optional(),
    /** The name of a playlist in fixtures/playlists, or a playlist. */
    playlist: playlist.optional(),
    config: configInput.optional(),
    faults: z.array(rule, 'must be a list of fault rules').optional(),
  },
  'must be a map such as { life: 1d, faults: [ … ] }',
);
export type Scenario = z.output<typeof scenario>;
