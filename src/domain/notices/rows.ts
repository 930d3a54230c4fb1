import { z } from 'zod';
import { noticeData } from './notice.ts';
import { noticeTypes } from './notice-types.ts';

/** The rows of notices, and of the watch over screens. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

/** A notice that the log does not contain yet. */
export const outboxRow = z.strictObject({
  id: text,
  /** `null`: only platform tokens may read it. */
  tenantId: text.nullable(),
  at: time,
  type: z.enum(noticeTypes),
  venueId: text.nullable(),
  screenId: text.nullable(),
  deviceId: text.nullable(),
  data: noticeData,
});
export type OutboxNotice = z.infer<typeof outboxRow>;

/**
 * A notice in the log. `seq` is its position, without gaps, and `id` is `<bucket>/<seq>`. The
 * notices of a bucket are read together. `at` never decreases.
 */
export const noticeRow = outboxRow.extend({ bucket: text, seq: z.number() });
export type Notice = z.infer<typeof noticeRow>;

/** The ends of the log of notices: a single row, with the id `log`. */
export const noticeLogRow = z.strictObject({
  id: text,
  /** Position of the oldest notice that is kept, and of the next notice. */
  firstSeq: z.number(),
  nextSeq: z.number(),
  /** Time of the newest notice. */
  at: time,
});
export type NoticeLogEnds = z.infer<typeof noticeLogRow>;

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
