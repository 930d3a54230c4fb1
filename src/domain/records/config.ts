import { z } from 'zod';
import { isObject } from '../json/is-object.ts';
import { onlineWindowMs } from './online-window.ts';

const minutes = z
  .number('must be a number of minutes, 1 to 1440')
  .min(1, 'must be 1 to 1440')
  .max(1440, 'must be 1 to 1440');
const positive = z.number('must be a number above 0').positive('must be above 0');

/**
 * The stored config of one level. Known members are validated, and others are kept
 * (docs/protocol.md §2.4).
 */
export const configBody = z
  .looseObject(
    {
      syncIntervalMinutes: minutes.optional(),
      heartbeatIntervalMinutes: minutes.optional(),
      cachePolicy: z
        .looseObject(
          { maxSizeGB: positive.optional(), retentionDays: positive.optional() },
          'must be an object',
        )
        .optional(),
    },
    'must be an object',
  )
  .meta({ id: 'Config' });
export type ConfigBody = z.infer<typeof configBody>;

const url = z.url({ protocol: /^https?$/ });
const isPicture = (text: string) =>
  /^(?:\/[^/]|data:image\/)/.test(text) || url.safeParse(text).success;
const isColour = (text: string) => /^(?:#(?:[\da-f]{3,4}){1,2}|[a-z]+|[a-z-]+\(.+\))$/i.test(text);
const yesOrNo = z.boolean('must be true or false').optional();

/** Languages of the texts of the web player. */
export const playerLanguages = ['de', 'en', 'es', 'fr', 'it', 'pl', 'pt'] as const;

/** The settings of the web player (docs/web-player.md). */
export const playerSettings = z.looseObject(
  {
    fit: z.enum(['contain', 'cover', 'fill'], 'must be one of contain, cover, fill').optional(),
    sound: yesOrNo,
    background: z
      .string('must be a colour in CSS notation, such as #102030 or navy')
      .refine(isColour, 'must be a colour in CSS notation, such as #102030 or navy')
      .optional(),
    pixelShift: yesOrNo,
    idle: z
      .string('must be info, black, or the URL of a picture')
      .refine(
        (text) => text === 'info' || text === 'black' || isPicture(text),
        'must be info, black, or the URL of a picture',
      )
      .optional(),
    rotate: z.literal([0, 90, 180, 270], 'must be one of 0, 90, 180, 270').optional(),
    language: z.enum(playerLanguages, `must be one of ${playerLanguages.join(', ')}`).optional(),
    reloadHours: z
      .number('must be a number of hours, 1 or more')
      .min(1, 'must be 1 or more')
      .optional(),
  },
  'must be an object of settings, such as { "fit": "cover" }',
);

/**
 * A config that is stored from now on. Version 0.1.0 stored any `player`, so `configBody` reads
 * any.
 */
export const configInput = configBody
  .extend({ player: playerSettings.optional() })
  .meta({ id: 'ConfigInput' });

/** A complete config, as sent to TVs. */
export const deviceConfig = z
  .looseObject({
    syncIntervalMinutes: z.number().meta({ description: 'minutes' }),
    heartbeatIntervalMinutes: z.number().meta({ description: 'minutes' }),
    cachePolicy: z.looseObject({
      maxSizeGB: z.number().meta({ description: 'gigabytes' }),
      retentionDays: z.number().meta({ description: 'days' }),
    }),
  })
  .meta({ id: 'DeviceConfig' });
export type DeviceConfig = z.infer<typeof deviceConfig>;

export const defaultConfig: DeviceConfig = {
  syncIntervalMinutes: 5,
  heartbeatIntervalMinutes: 1,
  cachePolicy: { maxSizeGB: 10, retentionDays: 7 },
};

/** Merges `over` into `under`, recursively. Merges objects, but replaces arrays and scalars. */
function merge(
  under: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const current = merged[name];
    merged[name] = isObject(value) && isObject(current) ? merge(current, value) : value;
  }
  return merged;
}

/**
 * Returns the effective config: all levels merged into the default, from the least to the most
 * specific.
 *
 * @example effectiveConfig([{ syncIntervalMinutes: 10 }, undefined]).syncIntervalMinutes // 10
 */
export function effectiveConfig(levels: readonly (ConfigBody | undefined)[]): DeviceConfig {
  return mergedConfigs(levels, defaultConfig) as DeviceConfig;
}

/** Merges configs into another one, from the least to the most specific. */
export function mergedConfigs(
  levels: readonly (Record<string, unknown> | undefined)[],
  under: Record<string, unknown> = {},
): Record<string, unknown> {
  return levels.reduce<Record<string, unknown>>(
    (merged, level) => (level ? merge(merged, level) : merged),
    under,
  );
}

/**
 * Returns the part of an effective config that does not come from the level `below`: members that
 * it does not have, or that the levels `above` replace.
 */
export function withoutLevel(
  effective: Record<string, unknown>,
  below: Record<string, unknown>,
  above: Record<string, unknown>,
): Record<string, unknown> {
  const visible: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(effective)) {
    const hidden = below[name];
    const own = above[name];
    if (!Object.hasOwn(below, name)) visible[name] = value;
    else if (!Object.hasOwn(above, name)) continue;
    else if (isObject(value) && isObject(hidden) && isObject(own))
      visible[name] = withoutLevel(value, hidden, own);
    else visible[name] = value;
  }
  return visible;
}

/**
 * Returns the ids of the stored configs that apply to a screen, from the least to the most specific
 * level.
 */
export function configIds(owner: {
  tenantId: string;
  venueId: string;
  screenId: string;
}): [tenant: string, venue: string, screen: string] {
  return [`tenant/${owner.tenantId}`, `venue/${owner.venueId}`, `screen/${owner.screenId}`];
}

/**
 * Returns whether a device is online: not suspended, and seen within twice the larger of its sync
 * and heartbeat intervals (docs/protocol.md §2.7). Times are in milliseconds. A time far ahead is
 * of a clock that ran fast, and does not count.
 */
export function isOnline(
  state: 'bound' | 'suspended',
  lastSeenAt: number | undefined,
  config: DeviceConfig,
  nowMs: number,
): boolean {
  return (
    state === 'bound' &&
    lastSeenAt !== undefined &&
    Math.abs(nowMs - lastSeenAt) <= onlineWindowMs(config)
  );
}
