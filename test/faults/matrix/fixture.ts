import type { Role } from '../../../src/domain/records/role.ts';
import type { Assembled } from '../../support/process/assembled.ts';
import { item, type Manager, manager } from '../../support/service/management.ts';

/** A venue with one record of each kind. */
export interface Place {
  name: 'inside' | 'outside' | 'foreign';
  tenantId: string;
  venueId: string;
  screenId: string;
  /** A screen without a TV. */
  spareId: string;
  deviceId: string;
  tokenId: string;
  webhookId: string;
  ticketId: string;
  /** A pending pairing code. */
  code: string;
  apiKey: string;
}

export interface Fixture {
  /** Two venues of one tenant, and one of another. */
  inside: Place;
  outside: Place;
  foreign: Place;
  /** Callers with all rights in each tenant. */
  masters: { home: Manager; foreign: Manager };
  platform: Manager;
  /** Expired and deleted management tokens, by role. */
  expired: Record<'viewer' | 'admin' | 'platform', string>;
  deleted: Record<'viewer' | 'admin' | 'platform' | 'of a tenant that is gone', string>;
  /** TVs with dead keys, by reason. */
  dead: Record<'revoked' | 'orphaned' | 'replaced', { apiKey: string; screenId: string }>;
}

const made = (answer: { status: number; text: string; body: unknown }) => {
  if (answer.status >= 300)
    throw new Error(`The fixture cannot be made: ${answer.status} ${answer.text}`);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  return answer.body as any;
};

async function furnish(
  service: Assembled,
  master: Manager,
  name: Place['name'],
  tenantId: string,
): Promise<Place> {
  const { id: venueId } = await master.venue(`Venue ${name}`);
  const screen = await master.screen(venueId, `Screen ${name}`, { labels: { place: name } });
  const spare = await master.screen(venueId, `Spare screen ${name}`);
  const { deviceId, apiKey } = await master.tv(screen.id);
  made(await master.put(`/v1/screens/${screen.id}/playlist`, { items: [item()] }));
  const inInstants = { at: 1, until: 2, items: [item()] };
  const takeover = { items: [item()], until: '2100-01-01T00:00:00Z' };
  for (const path of [`/v1/screens/${screen.id}`, `/v1/venues/${venueId}`])
    made(await master.put(`${path}/schedule`, { entries: [inInstants] }));
  made(await master.put(`/v1/screens/${screen.id}/takeover`, takeover));
  // Each level has members of its own, in objects and beside them.
  const config = (level: string) => ({
    [level]: `config of the ${level} ${name}`,
    shared: { [level]: `config of the ${level} ${name}`, deep: { [level]: true } },
  });
  made(await master.put(`/v1/screens/${screen.id}/config`, config('screen')));
  made(await master.put(`/v1/venues/${venueId}/config`, config('venue')));
  made(await master.put(`/v1/tenants/${tenantId}/config`, config('tenant')));
  const heartbeat = [{ type: 'heartbeat', timestamp: 1_790_000_000 }];
  made(
    await service.send('POST', `/devices/${screen.id}/events`, { key: apiKey, body: heartbeat }),
  );
  const token = made(
    await master.post('/v1/tokens', { name: `Token ${name}`, role: 'viewer', venueIds: [venueId] }),
  );
  const webhook = made(
    await master.post('/v1/webhooks', {
      url: `https://localhost:9/${name}`,
      name: `Webhook ${name}`,
      venueIds: [venueId],
    }),
  );
  const ticket = made(await master.post('/v1/tickets', { venueId, uses: 9 }));
  const { code } = await master.code(spare.id);
  return {
    name,
    tenantId,
    venueId,
    screenId: screen.id,
    spareId: spare.id,
    deviceId,
    tokenId: token.id,
    webhookId: webhook.id,
    ticketId: ticket.id,
    code,
    apiKey,
  };
}

/** Creates TVs with keys that worked and were killed in each possible way. */
async function killKeys(service: Assembled, master: Manager): Promise<Fixture['dead']> {
  const { id: venueId } = await master.venue('Where TVs die');
  const use = async (screenId: string, key: string) =>
    made(await service.send('GET', `/devices/${screenId}/config`, { key }));
  const born = async (name: string) => {
    const { id: screenId } = await master.screen(venueId, name);
    const tv = await master.tv(screenId);
    await use(screenId, tv.apiKey);
    return tv;
  };
  const dead = {
    revoked: await born('Revoked'),
    orphaned: await born('Orphaned'),
    replaced: await born('Replaced'),
  };
  made(await master.post(`/v1/devices/${dead.revoked.deviceId}/revoke`));
  made(await master.delete(`/v1/screens/${dead.orphaned.screenId}?force=true`));
  const { screenId, apiKey } = dead.replaced;
  const next = made(
    await service.send('POST', `/devices/${screenId}/keys/rotate`, { key: apiKey }),
  );
  await use(screenId, next.apiKey);
  return dead;
}

async function endTokens(
  service: Assembled,
  platform: Manager,
  home: Manager,
): Promise<Pick<Fixture, 'expired' | 'deleted'>> {
  const make = async (by: Manager, role: Role, more: object = {}) =>
    made(await by.post('/v1/tokens', { name: `Ended ${crypto.randomUUID()}`, role, ...more }));
  const expiresAt = new Date(service.clock.now() + 3_600_000).toISOString();
  const expired = {} as Fixture['expired'];
  const deleted = {} as Fixture['deleted'];
  for (const role of ['viewer', 'admin', 'platform'] as const) {
    expired[role] = (await make(home, role, { expiresAt })).token;
    const { id, token } = await make(home, role);
    made(await home.delete(`/v1/tokens/${id}`));
    deleted[role] = token;
  }
  const gone = await platform.tenant('Gone');
  deleted['of a tenant that is gone'] = (await make(platform.in(gone.id), 'admin')).token;
  made(await platform.delete(`/v1/tenants/${gone.id}`));
  service.clock.advance(3_600_000);
  return { expired, deleted };
}

/** Creates two tenants with all kinds of records, and dead credentials. */
export async function makeFixture(service: Assembled): Promise<Fixture> {
  const platform = manager(service);
  const { tenantId: homeId } = made(await platform.get('/v1/me'));
  const home = platform.in(homeId);
  const foreignId = (await platform.tenant('Foreign')).id;
  const foreign = platform.in(foreignId);
  const ended = await endTokens(service, platform, home);
  return {
    inside: await furnish(service, home, 'inside', homeId),
    outside: await furnish(service, home, 'outside', homeId),
    foreign: await furnish(service, foreign, 'foreign', foreignId),
    masters: { home, foreign },
    platform,
    ...ended,
    dead: await killKeys(service, home),
  };
}
