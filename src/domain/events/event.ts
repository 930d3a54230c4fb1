import { z } from 'zod';
import { epochTime, isoTime, recordId } from '../fields.ts';
import { pageQuery, timeRangeQuery, waitSeconds } from '../paging.ts';

/** Limits of a batch: 1 to 100 events, of at most 8 KiB each as sent (docs/protocol.md §2.5). */
export const maxBatch = 100;
export const maxEventBytes = 8 * 1024;

const guid = z.guid('must be a UUID').meta({ example: '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c' });

const typeForm = /^[a-z0-9._-]{1,64}$/;

const eventType = z
  .string('must be a string')
  .regex(typeForm, 'must be 1 to 64 characters of a-z, 0-9, ".", "_" and "-"')
  .meta({ example: 'impression' });

/**
 * One telemetry event. Impressions must name the playlist, creative and campaign. Unknown members
 * are kept unchanged.
 */
const telemetryEvent = z
  .looseObject(
    {
      type: eventType,
      timestamp: epochTime,
      playlistId: guid.nullish(),
      creativeId: guid.nullish(),
      campaignId: guid.nullish(),
      duration: z
        .unknown()
        .optional()
        .meta({
          description: 'Of an impression: the seconds actually played.',
          type: ['number', 'null'],
          minimum: 0,
          example: 15,
        }),
      plannedDuration: z.unknown().optional().meta({
        description:
          'Of an impression or play: the seconds that the item should play. Anything but a number is kept and ignored.',
        example: 15,
      }),
      entryId: z.unknown().optional().meta({
        description: 'Of an impression: the entry of the schedule, or `takeover`.',
        example: 'Breakfast',
      }),
      seq: z.unknown().optional().meta({
        description:
          'Number of the event: 1, 2, 3 … since the registration. Any other value is kept and ignored.',
        example: 17,
      }),
    },
    'must be an object',
  )
  .superRefine((event, context) => {
    if (event.type !== 'impression') return;
    for (const name of ['playlistId', 'creativeId', 'campaignId'] as const) {
      if (event[name] == null)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'must be a UUID: an impression needs it',
        });
    }
    if (!isSeconds(event.duration))
      context.addIssue({
        code: 'custom',
        path: ['duration'],
        message: 'must be a number of seconds, 0 or more',
      });
  })
  .meta({
    id: 'TelemetryEvent',
    description:
      'An `impression` needs playlistId, creativeId and campaignId. Further members are kept as sent.',
    if: { properties: { type: { const: 'impression' } }, additionalProperties: true },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      required: ['playlistId', 'creativeId', 'campaignId'],
      properties: {
        playlistId: { type: 'string' },
        creativeId: { type: 'string' },
        campaignId: { type: 'string' },
      },
      additionalProperties: true,
    },
  });
export type TelemetryEvent = z.infer<typeof telemetryEvent>;

/** The members of an event that the service reads. The whole event is stored as sent. */
export type CountedEvent = Pick<
  TelemetryEvent,
  | 'type'
  | 'timestamp'
  | 'campaignId'
  | 'creativeId'
  | 'entryId'
  | 'duration'
  | 'plannedDuration'
  | 'seq'
>;

export const eventBatch = z
  .array(telemetryEvent, 'must be an array of 1 to 100 events')
  .min(1, 'must have 1 to 100 events')
  .max(maxBatch, 'must have 1 to 100 events')
  .meta({ id: 'EventBatch' });

const validated = ['type', 'timestamp', 'playlistId', 'creativeId', 'campaignId', 'duration'];

/**
 * Returns a batch whose events have only their validated members. This is enough to explain an
 * error.
 */
export function withoutUnknownMembers(json: unknown): unknown {
  if (!Array.isArray(json) || json.length > maxBatch) return json;
  return json.map((event: unknown) => {
    if (typeof event !== 'object' || event === null || Array.isArray(event)) return event;
    return Object.fromEntries(
      validated.map((name) => [name, (event as Record<string, unknown>)[name]]),
    );
  });
}

function isId(id: unknown, isRequired: boolean): boolean {
  return id === undefined || id === null
    ? !isRequired
    : typeof id === 'string' && z.regexes.guid.test(id);
}

function isSeconds(seconds: unknown): boolean {
  return (
    seconds === undefined ||
    seconds === null ||
    (Number.isFinite(seconds) && (seconds as number) >= 0)
  );
}

/**
 * Returns whether an event is valid. `checkedId` is the playlist id of the previous event, which
 * was checked. Consecutive events mostly have the same playlist.
 */
function isEvent(event: unknown, checkedId: unknown): boolean {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return false;
  const { type, timestamp, playlistId, creativeId, campaignId, duration } = event as Record<
    string,
    unknown
  >;
  const isImpression = type === 'impression';
  if (!isImpression && (typeof type !== 'string' || !typeForm.test(type))) return false;
  if (!Number.isSafeInteger(timestamp) || (timestamp as number) < 0) return false;
  const isChecked = typeof playlistId === 'string' && playlistId === checkedId;
  if (
    !(isChecked || isId(playlistId, isImpression)) ||
    !isId(creativeId, isImpression) ||
    !isId(campaignId, isImpression)
  )
    return false;
  return !isImpression || isSeconds(duration);
}

/**
 * Returns whether `eventBatch` would accept parsed JSON unchanged. The rules are repeated in code,
 * because zod takes seven times as long: 0.12 ms for a hundred events, twice as long as parsing
 * them. If this returns false, zod produces the errors.
 */
export function isEventBatch(json: unknown): json is TelemetryEvent[] {
  if (!Array.isArray(json) || json.length < 1 || json.length > maxBatch) return false;
  return json.every((event, index) => isEvent(event, json[index - 1]?.playlistId));
}

export const eventsAccepted = z
  .object({ received: z.int().min(1).max(maxBatch) })
  .meta({ id: 'EventsAccepted' });

export const storedEvent = z
  .object({
    id: recordId,
    deviceId: recordId,
    screenId: recordId,
    receivedAt: isoTime,
    offsetMs: z.int().nullable().optional().meta({
      description: 'Time of receipt minus the `X-Device-Time` of the batch, in milliseconds.',
    }),
    event: z.looseObject({}),
  })
  .meta({ id: 'StoredEvent' });
export type StoredEventView = z.infer<typeof storedEvent>;

export const eventQuery = z.strictObject({
  ...pageQuery,
  type: eventType.optional().meta({ description: 'Only events of this type.' }),
  deviceId: recordId.optional().meta({ description: 'Only events of this device.' }),
  screenId: recordId.optional().meta({ description: 'Only events of this screen.' }),
  ...timeRangeQuery,
  order: z
    .enum(['asc', 'desc'], { error: 'must be asc or desc' })
    .default('desc')
    .meta({ description: '`asc` is oldest first.' }),
  after: recordId
    .optional()
    .meta({ description: 'With `order=asc`: only events after this event, by its id.' }),
  waitSeconds,
});
export type EventQuery = z.infer<typeof eventQuery>;
