import { z } from 'zod';
import { secondMs } from '../../domain/clock.ts';
import { readDuration } from '../../domain/duration.ts';
import { configBody } from '../../domain/records/config.ts';
import { type Publication, publication } from '../../domain/records/playlist.ts';
import { parseFault } from '../faults/parse-fault.ts';

const span = z.union([z.string(), z.number()]).transform((value, context) => {
  const spanMs = readDuration(String(value));
  if (spanMs !== undefined) return spanMs;
  context.addIssue({ code: 'custom', message: 'must be a span of time such as 90s, 5m, 2h or 7d' });
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

/** Checked by the form that is meant: of a union, zod says only that nothing fits. */
const playlist = z.unknown().transform((value, context): string | Publication => {
  if (typeof value === 'string') return value;
  const result = publication.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
  return z.NEVER;
});

/** A scenario file: what a run of a fleet is to be, for whatever the command line leaves open (docs/simulator.md). */
export const scenario = z.strictObject(
  {
    about: z.string('must be a sentence').optional(),
    count: z
      .int('must be a whole number of TVs')
      .min(1, 'must be 1 or more')
      .max(100_000, 'must be at most 100000')
      .optional(),
    /** How long each TV lives by its own clock. */
    life: span.optional(),
    speed: z
      .union(
        [z.number().positive(), z.literal('max').transform(() => Number.POSITIVE_INFINITY)],
        'must be a number above 0, or max',
      )
      .optional(),
    ramp: span.optional(),
    /** How often each TV changes its key. */
    rotateEvery: span.refine((spanMs) => spanMs >= secondMs, 'must be 1s or more').optional(),
    profiles: z
      .array(z.string('must be the name of a profile'))
      .min(1, 'must name a profile')
      .optional(),
    /** One of fixtures/playlists by its name, or the playlist itself. */
    playlist: playlist.optional(),
    config: configBody.optional(),
    faults: z.array(rule, 'must be a list of fault rules').optional(),
  },
  'must be a map such as { life: 1d, faults: [ … ] }',
);
export type Scenario = z.output<typeof scenario>;
