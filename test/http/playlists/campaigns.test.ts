import { beforeAll, describe, expect, it } from 'vitest';
import { campaignIdOf } from '../../../src/domain/playlists/campaign.ts';
import { proofOfPlay } from '../../../src/player/batch.ts';
import { expectInvalid, item, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
let tenantId: string;

const summer = { items: [item({ campaign: 'Summer' })] };
const idAsName = { items: [item({ campaignId: 'summer' })] };

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  ({ tenantId } = (await admin.get('/v1/me')).body);
});

/** Every way in which a manager puts items on a screen. */
const writes: Record<string, (screenId: string, body: object) => Promise<unknown>> = {
  'PUT /v1/screens/:id/playlist': (id, body) => admin.put(`/v1/screens/${id}/playlist`, body),
  'POST /v1/publications': (id, body) =>
    admin.post('/v1/publications', { screenIds: [id], action: 'publish', ...body }),
  'POST /v1/publications, takeover': (id, body) => {
    const until = new Date(service.clock.now() + 60_000).toISOString();
    const selected = { screenIds: [id], action: 'takeover', until };
    return admin.post('/v1/publications', { ...selected, ...body });
  },
  'PUT /v1/screens/:id/schedule': (id, body) =>
    admin.put(`/v1/screens/${id}/schedule`, {
      entries: [{ at: 1_000_000_000, until: '2099-01-01T00:00:00Z', ...body }],
    }),
  'PUT /v1/screens/:id/takeover': (id, body) =>
    admin.put(`/v1/screens/${id}/takeover`, { until: '2099-01-01T00:00:00Z', ...body }),
};

describe.each(Object.entries(writes))('%s', (_, write) => {
  it('gives an item with a campaign the campaignId that TVs report', async () => {
    const screen = await service.screen();
    const tv = await service.tv(screen.id);
    expect(await write(screen.id, summer)).toMatchObject({ status: 200 });
    const { body: playlist } = await tv.send('GET', 'playlist');
    const [first] = playlist.items;
    expect(first).toMatchObject({
      campaign: 'Summer',
      campaignId: campaignIdOf(tenantId, 'summer'),
    });
    const played = proofOfPlay(playlist, first, service.clock.now(), 15);
    expect(played.type).toBe('impression');
    expect((await tv.send('POST', 'events', { body: [played] })).status).toBe(202);
  });

  it('400 for a campaignId that is a name, and the TV keeps its playlist', async () => {
    const screen = await service.screen();
    const answer = (await write(screen.id, idAsName)) as Awaited<ReturnType<Manager['get']>>;
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].path).toMatch(/\/items\/0\/campaignId$/);
    expect(answer.body.errors[0].message).toContain('campaign: summer');
    const tv = await service.tv(screen.id);
    expect((await tv.send('GET', 'playlist')).status).toBe(404);
  });
});

describe('GET /v1/reports/impressions', () => {
  it('rows of campaigns have the last name that items gave the campaign', async () => {
    const { items } = (await admin.get('/v1/reports/impressions?groupBy=campaign')).body;
    const key = campaignIdOf(tenantId, 'summer');
    expect(items).toEqual([expect.objectContaining({ key, name: 'Summer' })]);
    const { id } = await service.screen();
    await admin.put(`/v1/screens/${id}/playlist`, { items: [item({ campaign: 'SUMMER' })] });
    const again = (await admin.get('/v1/reports/impressions?groupBy=campaign')).body;
    expect(again.items).toEqual([expect.objectContaining({ key, name: 'SUMMER' })]);
  });
});

describe('an item with campaign and campaignId', () => {
  it('keeps the campaignId, and names it', async () => {
    const { id } = await service.screen();
    const campaignId = '33333333-3333-4333-8333-333333333333';
    const both = item({ campaign: 'Autumn', campaignId });
    const tv = await service.tv(id);
    await admin.put(`/v1/screens/${id}/playlist`, { items: [both] });
    const { body: playlist } = await tv.send('GET', 'playlist');
    expect(playlist.items[0]).toMatchObject({ campaign: 'Autumn', campaignId });
    const played = proofOfPlay(playlist, playlist.items[0], service.clock.now(), 15);
    await tv.send('POST', 'events', { body: [played] });
    const { items } = (await admin.get('/v1/reports/impressions')).body;
    expect(items).toContainEqual(expect.objectContaining({ key: campaignId, name: 'Autumn' }));
  });
});

describe('names of campaigns', () => {
  it.each([
    ['', 'must not be empty'],
    ['x'.repeat(81), 'must have at most 80 characters'],
    ['a\u0000b', 'must not contain control characters'],
  ])('400 for %j', async (campaign, message) => {
    const { id } = await service.screen();
    const answer = await admin.put(`/v1/screens/${id}/playlist`, { items: [item({ campaign })] });
    expectInvalid(answer, '/items/0/campaign');
    expect(answer.body.errors[0].message).toBe(message);
  });
});
