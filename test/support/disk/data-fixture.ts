import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { item } from '../service/management.ts';
import { startService, type TestService } from '../service/service.ts';
import { crashCopy } from './crash-copy.ts';

/** Ids and keys that `answersOf` needs. */
export interface DataFacts {
  /** Time at which the service was killed, in epoch milliseconds. */
  at: number;
  tenants: {
    id: string;
    venueId: string;
    screenId: string;
    otherScreenId: string;
    deviceId: string;
    apiKey: string;
    pendingCode: string;
  }[];
}

async function fillTenant(
  service: TestService,
  name: string,
): Promise<DataFacts['tenants'][number]> {
  const venue = await service.venue({
    name: `Lobby of ${name}`,
    timezone: 'Europe/Berlin',
    labels: { floor: '1' },
  });
  const screen = await service.screen({ venueId: venue.id, name: 'Main' });
  const other = await service.screen({ venueId: venue.id, name: 'Bar' });
  const { deviceId, apiKey, send } = await service.tv(screen.id);
  for (const duration of [5, 10])
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, {
      items: [item({ duration })],
    });
  await service.manage('PUT', `/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 7 });
  for (const day of [0, 1, 2]) {
    service.clock.advance(day === 0 ? minuteMs : dayMs);
    const timestamp = Math.floor(service.clock.now() / 1000);
    const events = [
      {
        type: 'impression',
        timestamp,
        creativeId: item().creativeId,
        playlistId: deviceId,
        campaignId: deviceId,
        duration: 10,
      },
      { type: 'heartbeat', timestamp },
    ];
    await send('POST', 'events', { body: events, headers: { 'idempotency-key': `batch-${day}` } });
    await service.manage('PATCH', `/v1/venues/${venue.id}`, { address: `${day + 1} High Street` });
  }
  const { code: pendingCode } = await service.code(other.id);
  return {
    id: '',
    venueId: venue.id,
    screenId: screen.id,
    otherScreenId: other.id,
    deviceId,
    apiKey,
    pendingCode,
  };
}

/**
 * Fills a data folder through the service, and copies it to `killed` as `kill -9` would leave it.
 * `fixtures/data-v1` was made by this function with the first version of format 1, and stays as it
 * is. Before a new format, make its fixture with the last version of the old one.
 */
export async function makeData(folder: string, killed: string): Promise<DataFacts> {
  const clock = new ManualClock();
  let service = await startService({ store: folder, clock });
  const [first] = (await service.manage('GET', '/v1/tenants')).body.items;
  const second = (await service.manage('POST', '/v1/tenants', { name: 'Second' })).body;
  const facts: DataFacts = { at: 0, tenants: [] };
  for (const { id, name } of [first, second]) {
    service.tenantId = id;
    facts.tenants.push({ ...(await fillTenant(service, name)), id });
    await service.token('viewer');
    // A restart writes documents and starts a second journal segment.
    if (id === first.id) {
      await service.close();
      service = await startService({ store: folder, clock });
    }
  }
  facts.at = clock.now();
  await crashCopy(folder, killed);
  await service.close();
  return facts;
}

/** Returns the answers of the service to all reads. */
export async function answersOf(
  service: TestService,
  { tenants }: DataFacts,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const ask = async (path: string) => {
    const { status, body } = await service.manage('GET', path);
    answers[`${service.tenantId ?? ''} ${path}`] = status === 200 ? { status, body } : { status };
  };
  service.tenantId = undefined;
  await ask('/v1/tenants');
  for (const { id, venueId, screenId, otherScreenId, deviceId, apiKey, pendingCode } of tenants) {
    service.tenantId = id;
    for (const path of [
      'venues',
      'screens',
      'devices',
      'tokens',
      'audit',
      'events',
      'reports/impressions?groupBy=campaign',
    ])
      await ask(`/v1/${path}`);
    for (const path of [
      `venues/${venueId}/config`,
      `screens/${screenId}/playlist`,
      `screens/${screenId}/playlists`,
    ])
      await ask(`/v1/${path}`);
    await ask(`/v1/screens/${screenId}/config`);
    await ask(`/v1/screens/${otherScreenId}`);
    await ask(`/v1/devices/${deviceId}`);
    await ask(`/v1/devices/provisioning-codes/${pendingCode}/status`);
    for (const what of ['playlist', 'config']) {
      const { status, text } = await service.send('GET', `/devices/${screenId}/${what}`, {
        key: apiKey,
      });
      answers[`TV ${screenId} ${what}`] = { status, text };
    }
  }
  return answers;
}
