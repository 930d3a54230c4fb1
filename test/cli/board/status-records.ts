// Records of `GET /v1/status`, as a service answers them, for tests of many screens.
import type { ScreenStatusView } from '../../../src/domain/conditions/screen-status.ts';

const nowMs = Date.parse('2026-11-20T12:00:00.000Z');
const ago = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString();

const bad: Pick<ScreenStatusView, 'condition' | 'since' | 'reason' | 'errors'>[] = [
  {
    condition: 'failing',
    since: ago(12),
    reason: { code: 'http_404', text: '"offer.mp4" from cdn.example.com fails: HTTP 404.' },
    errors: [
      {
        creativeId: 'offer',
        name: 'offer.mp4',
        host: 'cdn.example.com',
        reason: 'http_404',
        since: ago(12),
        at: ago(1),
      },
    ],
  },
  {
    condition: 'dark',
    since: ago(200),
    reason: { code: 'no_calls', text: 'The TV does not call the service.' },
    errors: [],
  },
  {
    condition: 'unpaired',
    since: ago(4000),
    reason: { code: 'no_device', text: 'No TV is paired.' },
    errors: [],
  },
  {
    condition: 'outdated',
    since: ago(31),
    reason: { code: 'old_version', text: 'The TV plays version 6 instead of 7.' },
    errors: [],
  },
];

interface RecordOptions {
  count: number;
  /** Number of the first screens that do not play. Default: 0. */
  notPlaying?: number;
  screensPerVenue?: number;
  /** Default: no item. */
  creativeUrl?: (number: number) => string;
  creativeType?: string;
  name?: (number: number) => string;
}

const id = (kind: number, number: number) =>
  `0000000${kind}-0000-4000-8000-${String(number).padStart(12, '0')}`;

function record(number: number, options: RecordOptions): ScreenStatusView {
  const { notPlaying = 0, screensPerVenue = 20, creativeUrl, creativeType = 'image' } = options;
  const venue = Math.floor(number / screensPerVenue);
  const wrong = number < notPlaying ? bad[number % bad.length] : undefined;
  const playing = {
    creativeId: 'welcome',
    name: 'welcome.png',
    creativeUrl: creativeUrl?.(number) ?? null,
    creativeType: creativeUrl ? creativeType : null,
    since: ago(0),
  };
  return {
    at: ago(0),
    venueName: `Venue ${venue + 1}`,
    ...(wrong ?? { condition: 'playing', since: ago(90 + number), reason: null, errors: [] }),
    playing: !wrong || wrong.condition === 'outdated' ? playing : null,
    clock: null,
    muted: null,
    screen: {
      id: id(1, number),
      tenantId: id(4, 0),
      venueId: id(2, venue),
      name: options.name?.(number) ?? `Screen ${number + 1}`,
      labels: {},
      hours: null,
      state: 'active',
      deviceId: null,
      provisioningCode: null,
      createdAt: ago(9000),
      updatedAt: ago(9000),
    },
    device: null,
    playlist: { version: 7, status: 'active', publishedAt: ago(500), validUntil: null },
  };
}

/** Returns the answer with all records on one page. */
export const statusPage = (options: RecordOptions) => ({
  items: Array.from({ length: options.count }, (_, number) => record(number, options)),
  nextCursor: null,
});
