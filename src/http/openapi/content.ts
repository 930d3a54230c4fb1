import type { ZodOpenApiMediaTypeObject } from 'zod-openapi';
import { defaultConfig } from '../../domain/records/config.ts';
import { type SchemaName, schemas } from '../../wire/schemas.ts';

const screenId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const playlistId = '0190a5b6-1a40-7d11-8c5e-2f6a9b3c4d5e';
const creativeId = '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c';
const campaignId = '2f9d4c1b-6e3a-4b8d-9c7f-1a2b3c4d5e6f';

const items = [
  {
    creativeId,
    creativeUrl: 'https://media.example.com/spring.mp4',
    creativeType: 'video',
    duration: 15,
    campaignId,
  },
];

/** Example bodies. They are clearer than bodies composed from the examples of their members. */
export const examples: Partial<Record<SchemaName, unknown>> = {
  registration: {
    pairingCode: 'ABCD2345',
    deviceInfo: {
      manufacturer: 'Samsung',
      model: 'QB55C',
      osVersion: 'Tizen 7.0',
      appVersion: '2.4.1',
      macAddress: '00:00:5E:00:53:01',
      ipAddress: '192.0.2.17',
      deviceName: 'Lobby left',
      locationHint: 'Entrance, above the desk',
    },
  },
  registered: {
    deviceId: '0190a5b5-3c80-7e42-a1f0-8d7c6b5a4e3f',
    screenId,
    apiKey: 'dak_…',
    tenantId: '0190a5b0-0a10-7b55-9f3e-4c5d6e7f8a9b',
    config: defaultConfig,
  },
  deviceConfig: defaultConfig,
  configBody: { syncIntervalMinutes: 10, cachePolicy: { maxSizeGB: 20 } },
  configInput: { syncIntervalMinutes: 10, player: { fit: 'cover' } },
  eventBatch: [
    { type: 'impression', timestamp: 1760000000, playlistId, creativeId, campaignId, duration: 15 },
    { type: 'heartbeat', timestamp: 1760000030, uptimeSeconds: 86400 },
  ],
  publication: { items, validUntil: null },
  codeCreation: { screenId },
  revocation: { reason: 'stolen' },
  tenantCreation: { name: 'Example Stations' },
  tenantPatch: { name: 'Example Stations and Ports' },
  tokenCreation: { name: 'Back office', role: 'operator', expiresAt: '2099-12-31T23:00:00Z' },
  venueCreation: {
    name: 'Central Station',
    address: '1 Station Square',
    timezone: 'Europe/Berlin',
    labels: { region: 'north' },
  },
  venuePatch: { address: null, labels: { region: 'south' } },
  screenCreation: {
    venueId: '0190a5b3-2b70-7c19-8e4d-6f5a4b3c2d1e',
    name: 'Lobby',
    labels: { floor: '2' },
  },
  screenPatch: { name: 'Lobby left', labels: { floor: null } },
  coverageReport: {
    items: [
      {
        key: '0190a5b3-2b70-7c19-8e4d-6f5a4b3c2d1e',
        name: 'Lobby/Main',
        plannedSeconds: 36_000,
        playedSeconds: 36_105.2,
        coveredSeconds: 35_985.2,
        coverage: 0.9996,
        plays: 2399,
        late: 0,
        unplaced: 0,
        lost: 1,
        incomplete: false,
      },
    ],
    unattributed: null,
  },
  impressionReport: {
    items: [
      {
        key: campaignId,
        name: 'summer',
        impressions: 128,
        seconds: 1920,
        fullPlays: 126,
        partialPlays: 2,
        unknownPlays: 0,
        plays: 0,
      },
    ],
    misdated: { impressions: 12, screens: 1, firstDay: '1970-01-01', lastDay: '1970-01-01' },
    venueDaysSince: null,
    ungrouped: null,
  },
};

export function media(name: SchemaName): ZodOpenApiMediaTypeObject {
  const example = examples[name];
  return { schema: schemas[name], ...(example === undefined ? {} : { example }) };
}
