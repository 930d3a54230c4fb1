import { z } from 'zod';

/** Rows of the watch over screens. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

/** A bad condition that was told. `id` is the id of the screen, or of the venue that is dark. */
export const alarmRow = z.strictObject({
  id: text,
  tenantId: text,
  venueId: text,
  /** `null`: the venue as a whole. */
  screenId: text.nullable(),
  deviceId: text.nullable(),
  /** Whether it was told as dark, and not as failing. */
  isDark: z.boolean(),
  since: time.nullable(),
});
export type Alarm = z.infer<typeof alarmRow>;

/** The watch over the screens, by one instance: a single row, with the id `watch`. */
export const watchRow = z.strictObject({
  id: text,
  /** The instance that watches. */
  holder: text,
  /** Start of its last look. */
  lookedAt: time,
  /** Time since which TVs could be heard without a break. */
  hearingSince: time,
  /** Ends of playlists up to this time were told. */
  endsToldUntil: time,
});
export type Watch = z.infer<typeof watchRow>;
