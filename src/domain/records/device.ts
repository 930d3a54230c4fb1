import { z } from 'zod';
import { freeText, isoTime, lineOfText, recordId } from '../fields.ts';
import { booleanQuery, pageQuery, selectorQuery } from '../paging.ts';
import { deviceConfig } from './config.ts';
import { pairingCodeText, simulated } from './pairing-code.ts';
import { playerReport } from './player-report.ts';
import { screen } from './screen.ts';

const mac = /^(?:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5})$/;

/** An optional text. Absent and `null` both become `null`. */
const optionalText = freeText(255).nullable().default(null);

const infoMembers = {
  manufacturer: optionalText,
  model: optionalText,
  osVersion: optionalText,
  appVersion: optionalText,
  macAddress: z
    .string('must be a string')
    .regex(mac, 'must be XX:XX:XX:XX:XX:XX or XX-XX-XX-XX-XX-XX')
    .nullable()
    .default(null)
    .meta({ example: '02:00:5E:10:00:01' }),
  ipAddress: z
    .union([z.ipv4(), z.ipv6()], { error: 'must be an IPv4 or IPv6 address' })
    .nullable()
    .default(null)
    .meta({ example: '192.0.2.17' }),
  deviceName: optionalText,
  locationHint: optionalText,
};

/** Absent if the TV does not tell it. Web pages cannot read it. */
const serial = freeText(255).nullable().optional();

/**
 * Information that a TV sends about itself. Unknown members are ignored (docs/protocol.md §3.1).
 */
export const deviceInfo = z
  .object({ ...infoMembers, serial }, 'must be an object')
  .meta({ id: 'DeviceInfo' });
export type DeviceInfo = z.infer<typeof deviceInfo>;

export const registration = z
  .object({ pairingCode: pairingCodeText, deviceInfo })
  .meta({ id: 'Registration' });
export type Registration = z.infer<typeof registration>;

export const registered = z
  .object({
    deviceId: recordId,
    screenId: recordId,
    apiKey: z.string().meta({
      description: 'Returned only in this response: store it securely.',
      example: 'dak_…',
    }),
    tenantId: recordId,
    config: deviceConfig,
  })
  .meta({ id: 'Registered' });
export type RegisteredView = z.infer<typeof registered>;

export const rotated = z
  .object({
    apiKey: z.string().meta({
      description: 'Returned only in this response: store it securely before its first use.',
      example: 'dak_…',
    }),
  })
  .meta({ id: 'RotatedKey' });
export type RotatedView = z.infer<typeof rotated>;

const deviceStates = ['bound', 'suspended'] as const;
const state = z.enum(deviceStates, { error: `must be one of ${deviceStates.join(', ')}` });

export const revocation = z
  .object({ reason: lineOfText(500).nullish() })
  .nullish()
  .meta({ id: 'Revocation' });

export const deviceQuery = z.strictObject({
  ...pageQuery,
  screenId: recordId.optional().meta({ description: 'Only the devices of this screen.' }),
  venueId: recordId.optional().meta({ description: 'Only the devices of this venue.' }),
  state: state.optional().meta({ description: 'Only devices in this state.' }),
  online: booleanQuery.optional().meta({
    description: '`true`: only devices that are online. `false`: only devices that are offline.',
  }),
  selector: selectorQuery,
});
export type DeviceQuery = z.infer<typeof deviceQuery>;

const text = z.string().nullable();
/** Device info in answers. */
export const shownDeviceInfo = z.object({
  ...(Object.fromEntries(Object.keys(infoMembers).map((name) => [name, text])) as Record<
    keyof typeof infoMembers,
    typeof text
  >),
  serial: text.optional(),
});

const sequenceMembers = {
  lastSeq: z.int().nullable().meta({
    description: 'Highest `seq` of its events. `null`: its events have none.',
  }),
  missingEvents: z.int().meta({ description: 'How many lower `seq` have not arrived.' }),
  conflictingEvents: z
    .int()
    .meta({ description: 'How many `seq` arrived again in another batch.' }),
};

export const device = z
  .object({
    id: recordId,
    screenId: recordId,
    state,
    deviceInfo: shownDeviceInfo,
    createdAt: isoTime,
    lastSeenAt: isoTime.nullable(),
    lastAddress: text,
    lastPlaylistAt: isoTime.nullable(),
    lastPlaylistVersion: z.int().nullable(),
    lastPlaylistStatus: z.int().nullable().meta({ description: '200, 304, 404 or 500' }),
    lastConfigAt: isoTime.nullable(),
    lastEventAt: isoTime.nullable(),
    lastRefusedAt: isoTime.nullable().meta({
      description: 'Time of the latest request with a revoked or replaced key of the device.',
    }),
    ...sequenceMembers,
    report: playerReport.nullable().optional().meta({
      description: 'What its player found out about it at its last start; `null`: nothing.',
    }),
    online: z.boolean(),
    suspendedAt: isoTime.nullable(),
    suspendReason: text,
    simulated,
  })
  .meta({ id: 'Device' });
export type DeviceView = z.infer<typeof device>;

export const revoked = z.object({ device, screen }).meta({ id: 'Revoked' });
