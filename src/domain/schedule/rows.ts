import { z } from 'zod';
import { weekdays } from '../hours/local-times.ts';

/** The rows of schedules and takeovers. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();
const mediaIds = z.array(text).readonly();

const entryTimes = {
  name: text.nullable(),
  days: z.array(z.enum(weekdays)).readonly().nullable(),
  from: text.nullable(),
  to: text.nullable(),
  dates: z.strictObject({ from: text.nullable(), until: text.nullable() }).nullable(),
  at: time.nullable(),
  until: time.nullable(),
};

/** An entry of a schedule. Its items are content (`contentRow`). */
const content = { contentId: text, mediaIds, /** Of the items as JSON. */ bytes: z.number() };
const storedEntry = z.strictObject({
  ...entryTimes,
  ...content,
  /** `null`: the entry plays the playlist of the screen. */
  contentId: text.nullable(),
});
export type StoredEntry = z.infer<typeof storedEntry>;

/**
 * The layers above the playlist of a screen, or of all screens of a venue. `id` is the level and
 * the id of that record, such as `venue/<id>`.
 */
export const layersRow = z.strictObject({
  id: text,
  tenantId: text,
  ownerId: text,
  schedule: z.strictObject({ entries: z.array(storedEntry).readonly(), since: time }).nullable(),
  /** Ends at `until`. Screens only. */
  takeover: z.strictObject({ ...content, since: time, until: time }).nullable(),
  /**
   * The last switch, which has made a version of its own: what TVs get since `at`. Screens only.
   * `contentId` is `null` if they get nothing to play.
   */
  delivered: z
    .strictObject({
      playlistId: text,
      version: z.number(),
      entryId: text.nullable(),
      contentId: text.nullable(),
      at: time,
    })
    .nullable(),
});
export type Layers = z.infer<typeof layersRow>;

/** Returns the ids of the contents of layers, once each. */
export function contentsOfLayers({ schedule, takeover }: Layers): string[] {
  const named = [...(schedule?.entries ?? []), ...(takeover ? [takeover] : [])];
  return [...new Set(named.flatMap(({ contentId }) => contentId ?? []))];
}

export type StoredSchedule = NonNullable<Layers['schedule']>;
export type StoredTakeover = NonNullable<Layers['takeover']>;

/**
 * A schedule that was replaced or cleared, for explanations of the past. `id` is the id of its
 * screen or venue and the time of its end. `base` is true of entries without items of their own.
 */
export const pastScheduleRow = z.strictObject({
  id: text,
  tenantId: text,
  ownerId: text,
  entries: z.array(z.strictObject({ ...entryTimes, base: z.boolean().optional() })).readonly(),
  since: time,
  until: time,
});
