const creativeId = '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c';

/** Returns a playlist item. */
export function item(more: object = {}): object {
  return {
    creativeId,
    creativeUrl: 'https://media.example.com/conformance.mp4',
    creativeType: 'video',
    duration: 15,
    ...more,
  };
}

/** The ids that an impression refers to. */
const references = {
  playlistId: '11111111-1111-4111-8111-111111111111',
  campaignId: '22222222-2222-4222-8222-222222222222',
  creativeId,
};

/** Two items with different types. The second has custom members. */
export const items = [
  { ...item(), creativeId: references.playlistId, creativeType: 'image', duration: 10 },
  {
    ...item(),
    creativeId: references.campaignId,
    creativeType: 'html',
    duration: 7.5,
    campaignId: references.campaignId,
    ours: { kept: [1, null] },
  },
];

export const impression = (timestamp: number, more: object = {}): object => ({
  type: 'impression',
  timestamp,
  ...references,
  ...more,
});
export const heartbeat = (timestamp: number, more: object = {}): object => ({
  type: 'heartbeat',
  timestamp,
  ...more,
});

/** Returns `count` heartbeats with the same timestamp. */
export const heartbeats = (count: number, timestamp: number): object[] =>
  Array.from({ length: count }, () => heartbeat(timestamp));

/** An id that no record has. */
export const unknownId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/** All members of `deviceInfo`. */
export const deviceInfo = {
  manufacturer: 'Samsung',
  model: 'QM55C',
  osVersion: 'Tizen 7.0',
  appVersion: '2.4.1',
  macAddress: '02:00:5E:10:00:01',
  ipAddress: '192.0.2.17',
  deviceName: 'Conformance TV',
  locationHint: 'nowhere',
};
