import { z } from 'zod';
import type { PlayerState } from '../../simulator/player/state.ts';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';

/** Content of a state file: the service, the device info and the saved player state. */
export interface SavedTv {
  format: 1;
  service: string;
  deviceInfo: DeviceInfoInput;
  tv: PlayerState;
}

const text = z.string();
const event = z.looseObject({ type: text, timestamp: z.number() });
const config = z.looseObject({
  syncIntervalMinutes: z.number(),
  heartbeatIntervalMinutes: z.number(),
  cachePolicy: z.looseObject({}),
});
const item = z.looseObject({
  creativeId: text,
  creativeUrl: text,
  creativeType: text,
  duration: z.number(),
});
const playlist = z.looseObject({
  id: text,
  version: z.number(),
  validUntil: z.number(),
  items: z.array(item),
});

const savedTvSchema = z.object({
  format: z.literal(1),
  service: z.url(),
  deviceInfo: z.looseObject({}),
  tv: z.object({
    format: z.literal(1),
    registering: z.object({ pairingCode: text, idempotencyKey: text }).optional(),
    binding: z.object({ deviceId: text, screenId: text, tenantId: text, apiKey: text }).optional(),
    rotating: z.object({ idempotencyKey: text }).optional(),
    formerKey: z.object({ apiKey: text, isRefused: z.boolean().optional() }).optional(),
    keySinceMs: z.number().optional(),
    config: config.optional(),
    configTag: text.optional(),
    playlist: z
      .object({ answer: playlist, etag: text.optional(), validUntilMs: z.number() })
      .optional(),
    queue: z.array(event),
    batch: z.object({ events: z.array(event).min(1).max(100), idempotencyKey: text }).optional(),
  }),
});

/** Parses a state file. Returns `undefined` if it is damaged. */
export function parseSavedTv(json: string): SavedTv | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  // Returns the parsed value itself to keep the member order: a retried batch must have the same
  // bytes.
  return savedTvSchema.safeParse(value).success ? (value as SavedTv) : undefined;
}
