import { z } from 'zod';
import type { PlayCell } from '../../domain/events/plays.ts';
import { lastActivity } from '../../domain/records/activity.ts';
import { firstDay, reportClocks, reportGroups } from '../../domain/records/report.ts';
import { isSealed, type SealedEntry } from '../audit/audit-chain.ts';
import { groupOrder, lastDay } from '../impression-counts.ts';
import { documentDay, placeText } from '../plays.ts';
import type { PlayPlace } from '../queries.ts';
import { type Rows, sectionOf, type TableName, tableNames } from '../sections.ts';

const text = z.string();
/** Result of `dayOf`, which also has to name a day of TVs with absurd clocks. It names files. */
const day = z.string().regex(/^[-+\d]{0,10}$/);
const count = z.int().nonnegative();
const time = z.number();
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

const link = { writer: hex(16), seq: count, mac: hex(64), sig: hex(64) };

/**
 * Data that a store has once: its secret, the end of the event log, and the bounds of the audit
 * chain.
 */
const server = z.strictObject({
  secret: hex(64),
  /** The last batch ever stored, even if retention has deleted it. New batches continue from it. */
  log: z.strictObject({ seq: count, receivedAt: count }),
  /** Without its writer: the restored store gets a new one. */
  chain: z.strictObject({
    head: z.strictObject(link).optional(),
    start: z.strictObject({ ...link, day }).optional(),
    gaps: z
      .array(z.strictObject({ from: count, to: count, sig: hex(64) }))
      .readonly()
      .optional(),
  }),
});

/** A batch of events. Its id is derived from `seq` and `receivedAt`. */
const batch = z.strictObject({
  /** Counts batches from 1. */
  seq: count,
  /** In milliseconds; never less than in the previous batch. */
  receivedAt: count,
  tenantId: text,
  venueId: text,
  screenId: text,
  deviceId: text,
  /** Absent: the device is not simulated. */
  simulated: z.literal(true).optional(),
  /** `receivedAt` minus the TV's clock, in milliseconds. Absent: the TV did not send its time. */
  offsetMs: z.number().optional(),
  /** Of the venue (`BatchSums.offsets`). Absent: a batch of 0.1.0. */
  offsets: z.array(z.int()).optional(),
  /** The events as a JSON array, as sent. */
  body: text,
});

/** The idempotency keys of a device, oldest first: hashes of each key and of the bytes sent. */
const idempotency = z.strictObject({
  deviceId: text,
  keys: z.array(z.tuple([hex(16), hex(16)])).max(128),
});

/**
 * Largest sum of seconds. Only a faulty TV can report more. Two such sums can be added without an
 * overflow.
 */
export const maxSeconds = 8e307;

/** The impressions of one day and scope (`scopesOf` in impression-counts.ts). */
const impressions = z.strictObject({
  clock: z.enum(reportClocks),
  day,
  group: z.enum(reportGroups),
  scope: text,
  key: text,
  impressions: count,
  seconds: z.number(),
});

/** The plays of a screen on one UTC day and one local day (`PlayPlace` in plays.ts). */
const plays = z.strictObject({
  clock: z.enum(reportClocks),
  tenantId: text,
  /** Counted from 1 January 1970. */
  day: count,
  venueId: text,
  screenId: text,
  /** The local day minus the UTC day. */
  shift: z.int().min(-2).max(2),
  simulated: z.literal(true).optional(),
  /** Creative, campaign, entry, events, seconds, partial and unknown ones. */
  cells: z.array(z.tuple([text, text, text, count, z.number(), count, count])),
});

export function playRecord(
  { clock, tenantId, day, venueId, screenId, shift, simulated }: PlayPlace,
  cells: readonly PlayCell[],
): Records['plays'] {
  const place = { clock, tenantId, day, venueId, screenId, shift };
  return {
    ...place,
    ...(simulated && { simulated }),
    cells: cells.map(({ creativeId, campaignId, entryId, events, seconds, partial, unknown }) => [
      ...([creativeId, campaignId, entryId, events] as const),
      Math.min(seconds, maxSeconds),
      partial,
      unknown,
    ]),
  };
}

/** The opposite of what `playRecord` does with a cell. */
export function playCell(values: Records['plays']['cells'][number]): PlayCell {
  const [creativeId, campaignId, entryId, events, seconds, partial, unknown] = values;
  return { creativeId, campaignId, entryId, events, seconds, partial, unknown };
}

/** The sequence numbers of a device (`SequenceState`). */
const sequences = z.strictObject({
  deviceId: text,
  floor: count,
  missing: count,
  conflicts: count,
  ranges: z.array(z.tuple([count, count])),
});

/** The last activity of a device or token. */
const marks = z.strictObject({
  kind: z.enum(['device', 'token']),
  id: text,
  ...lastActivity.shape,
  lastUsedAt: time.optional(),
});

/** The text of an entry is part of its MAC, so its members keep their order. */
const audit = z
  .custom<SealedEntry>(
    (value) => isSealed(value) && Number.isSafeInteger(value.entry.at),
    'this is not an audit entry',
  )
  .transform(({ entry, link: { writer, seq, mac } }) => ({ entry, link: { writer, seq, mac } }));

/** Records of all sections, in a form that no store dictates. Guess counters are not among them. */
export interface Records extends Rows {
  server: z.infer<typeof server>;
  batches: z.infer<typeof batch>;
  idempotency: z.infer<typeof idempotency>;
  impressions: z.infer<typeof impressions>;
  plays: z.infer<typeof plays>;
  sequences: z.infer<typeof sequences>;
  audit: SealedEntry;
  marks: z.infer<typeof marks>;
}

export type SectionName = keyof Records;

/** A part of a media file. */
const file = z.strictObject({
  /** The SHA-256 of the file. */
  id: hex(64),
  /** Bytes of the whole file. */
  size: count.min(1),
  offset: count,
  data: text.refine((data) => {
    const bytes = Buffer.from(data, 'base64');
    return bytes.length > 0 && bytes.toString('base64') === data;
  }, 'this is not base64'),
});

/** Records of a dump. Those of `files` are optional, and lie in the media store. */
export interface DumpRecords extends Records {
  files: z.infer<typeof file>;
}

export type DumpSection = keyof DumpRecords;

interface SectionShape<R> {
  schema: z.ZodType<R>;
  /**
   * The text by which records are ordered, bytewise. Without it, they keep the order of the store.
   */
  keyOf?: (record: R) => string;
}

const digits = (value: number) => String(value).padStart(16, '0');

/** Strict schemas put the members in order, so that equal records have equal bytes. */
const shapes: { [S in Exclude<DumpSection, TableName>]: SectionShape<DumpRecords[S]> } = {
  server: { schema: server, keyOf: () => '' },
  batches: { schema: batch, keyOf: ({ seq }) => digits(seq) },
  idempotency: { schema: idempotency, keyOf: ({ deviceId }) => deviceId },
  impressions: {
    schema: impressions,
    keyOf: ({ clock, day, group, scope, key }) => {
      const bucket = day >= firstDay && day <= lastDay ? day : '~';
      return [clock, bucket, groupOrder.indexOf(group), scope, day, key].join('\0');
    },
  },
  plays: {
    schema: plays,
    keyOf: ({ clock, simulated = false, ...place }) => {
      const day = documentDay(place.day);
      const bucket = day === 'other' ? '~' : day;
      return [clock, bucket, placeText({ ...place, simulated })].join('\0');
    },
  },
  sequences: { schema: sequences, keyOf: ({ deviceId }) => deviceId },
  audit: { schema: audit },
  marks: { schema: marks, keyOf: ({ kind, id }) => `${kind}/${id}` },
  files: { schema: file, keyOf: ({ id, offset }) => `${id}/${digits(offset)}` },
};

const idOf = ({ id }: { id: string }) => id;

export function shapeOf<S extends DumpSection>(section: S): SectionShape<DumpRecords[S]> {
  const shape = Object.hasOwn(shapes, section)
    ? shapes[section as keyof typeof shapes]
    : { schema: sectionOf(section as TableName).row, keyOf: idOf };
  return shape as unknown as SectionShape<DumpRecords[S]>;
}

/**
 * Returns the sections of a store in order: the logs and what is made from them, then rows, then
 * activity.
 */
export function sectionNames(): SectionName[] {
  const { marks: _marks, files: _files, ...logs } = shapes;
  return [...(Object.keys(logs) as SectionName[]), ...tableNames, 'marks'];
}
