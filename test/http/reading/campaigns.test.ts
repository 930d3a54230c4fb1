import { beforeAll, describe, expect, it } from 'vitest';
import { campaignIdOf } from '../../../src/domain/playlists/campaign.ts';
import {
  auditOf,
  expectInvalid,
  expectProblem,
  item,
  type Manager,
  manager,
  walk,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const path = '/v1/campaigns';
const guid = (digit: number) => `${digit}0000000-0000-4000-8000-000000000000`;
const booking = { client: 'Ice & Co.', from: '2026-12-01', to: '2027-01-01', bookedPlays: 5000 };
const empty = { client: null, from: null, to: null, bookedPlays: null, bookedSeconds: null };

let service: TestService;
let admin: Manager;
let tenantId: string;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  ({ tenantId } = (await admin.get('/v1/me')).body);
});

const put = (name: string, body: object) => admin.put(`${path}/${encodeURIComponent(name)}`, body);
const get = async (name: string) =>
  (await admin.get(`${path}/${encodeURIComponent(name)}`)).body as Record<string, unknown>;
async function publish(campaign: object): Promise<void> {
  const { id } = await service.screen();
  const answer = await admin.put(`/v1/screens/${id}/playlist`, { items: [item(campaign)] });
  expect(answer.status, answer.text).toBe(200);
}

describe('PUT /v1/campaigns/:name', () => {
  it('200 with the booking, which GET returns by every spelling of the name, and by the id', async () => {
    const { status, body } = await put('Summer Sale', booking);
    const id = campaignIdOf(tenantId, 'Summer Sale');
    expect(status).toBe(200);
    expect(body).toEqual({ id, tenantId, name: 'Summer Sale', bookedSeconds: null, ...booking });
    for (const name of ['Summer Sale', 'SUMMER\u00a0SALE', id, id.toUpperCase()])
      expect(await get(name)).toEqual(body);
  });

  it('replaces the whole booking; members that are missing or null are none', async () => {
    await put('replaced', booking);
    const { body } = await put('replaced', { bookedSeconds: 60, client: null });
    expect(body).toMatchObject({ ...empty, bookedSeconds: 60 });
    await put('replaced', {});
    expect(await get('replaced')).toMatchObject({ ...empty, name: 'replaced' });
  });

  it('records campaign.set once, and nothing for the same booking again', async () => {
    const [entry, ...more] = await auditOf(admin, async () => {
      await put('audited', booking);
      await put('Audited', { ...booking, bookedSeconds: null });
    });
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'campaign.set',
      subject: { kind: 'campaign', id: campaignIdOf(tenantId, 'audited') },
      details: { name: 'audited', ...booking },
    });
  });

  it('takes names with a slash and a percent sign', async () => {
    expect((await put('50 % Spring/Summer', booking)).status).toBe(200);
    expect(await get('50 % Spring/Summer')).toMatchObject({ name: '50 % Spring/Summer' });
  });

  it('spells the name otherwise, and never gives it another one', async () => {
    await put('spelled', {});
    expect((await put('spelled', { name: 'SPELLED' })).body.name).toBe('SPELLED');
    expectInvalid(await put('spelled', { name: 'winter' }), '/name');
    expect(await get('spelled')).toMatchObject({ name: 'SPELLED' });
  });

  it('names a campaign whose items give it an id of their own', async () => {
    expectInvalid(await put(guid(1), booking), '/name');
    expectProblem(await admin.get(`${path}/${guid(1)}`), 'campaign_not_found');
    const { body } = await put(guid(1), { ...booking, name: 'Own id' });
    expect(body).toMatchObject({ id: guid(1), name: 'Own id' });
    expect((await put(guid(1), {})).body).toMatchObject({ name: 'Own id', ...empty });
    expectProblem(await admin.get(`${path}/Own%20id`), 'campaign_not_found');
  });

  it.each<[string, object]>([
    ['/to', { from: '2026-12-02', to: '2026-12-01' }],
    ['/to', { from: '2026-12-02', to: '2026-12-02' }],
    ['/from', { from: '2026-02-30' }],
    ['/from', { from: '2026-12-01T00:00:00Z' }],
    ['/to', { to: 20261201 }],
    ['/bookedPlays', { bookedPlays: -1 }],
    ['/bookedPlays', { bookedPlays: 0 }],
    ['/bookedPlays', { bookedPlays: 1.5 }],
    ['/bookedPlays', { bookedPlays: '5000' }],
    ['/bookedPlays', { bookedPlays: 1e13 }],
    ['/bookedSeconds', { bookedSeconds: -0.5 }],
    ['/client', { client: '' }],
    ['/client', { client: 'x'.repeat(1_000_000) }],
    ['/client', { client: 'a\u202eb' }],
    ['/name', { name: 'x'.repeat(81) }],
    ['/booked', { booked: 1 }],
  ])('400 at %s', async (member, body) => {
    expectInvalid(await put('refused', body), member);
    expectProblem(await admin.get(`${path}/refused`), 'campaign_not_found');
  });

  it('400 at path.name for what no campaign can be called', async () => {
    for (const name of ['x'.repeat(81), 'a\u0007b', '\u200b'])
      expectInvalid(await put(name, {}), 'path.name');
  });

  it('412 unless the campaign has the revision of If-Match, and with If-None-Match for a new one', async () => {
    const send = (headers: Record<string, string>, body: object) =>
      admin.send('PUT', `${path}/raced`, { headers, body });
    expectProblem(await send({ 'If-Match': '*' }, booking), 'precondition_failed');
    const first = await send({ 'If-None-Match': '*' }, booking);
    expect(first.status).toBe(200);
    expectProblem(await send({ 'If-None-Match': '*' }, {}), 'precondition_failed');
    const etag = first.headers.get('etag') as string;
    expect((await admin.get(`${path}/raced`)).headers.get('etag')).toBe(etag);
    expect((await send({ 'If-Match': etag }, { bookedPlays: 1 })).status).toBe(200);
    expectProblem(await send({ 'If-Match': etag }, {}), 'precondition_failed');
    expect(await get('raced')).toMatchObject({ bookedPlays: 1 });
  });
});

describe('DELETE /v1/campaigns/:name', () => {
  it('204, and its name and booking are gone until an item names it', async () => {
    await publish({ campaign: 'deleted' });
    await put('deleted', booking);
    const [entry, ...more] = await auditOf(admin, async () => {
      expect((await admin.delete(`${path}/Deleted`)).status).toBe(204);
    });
    expect(more).toEqual([]);
    const id = campaignIdOf(tenantId, 'deleted');
    expect(entry).toMatchObject({ action: 'campaign.delete', subject: { kind: 'campaign', id } });
    expectProblem(await admin.delete(`${path}/deleted`), 'campaign_not_found');
    await publish({ campaign: 'deleted' });
    expect(await get('deleted')).toMatchObject({ name: 'deleted', ...empty });
  });

  it('412 if somebody has booked it meanwhile', async () => {
    const etag = (await put('kept', {})).headers.get('etag') as string;
    await put('kept', booking);
    const headers = { 'If-Match': etag };
    const refused = await admin.send('DELETE', `${path}/kept`, { headers });
    expectProblem(refused, 'precondition_failed');
    expect(await get('kept')).toMatchObject(booking);
  });
});

describe('an item that names a campaign', () => {
  it('makes the campaign, and keeps its booking', async () => {
    await publish({ campaign: 'autumn' });
    expect(await get('autumn')).toMatchObject({ name: 'autumn', ...empty });
    await put('autumn', booking);
    await publish({ campaign: 'Autumn' });
    expect(await get('autumn')).toMatchObject({ name: 'Autumn', ...booking });
    await publish({ campaign: 'Other', campaignId: campaignIdOf(tenantId, 'autumn') });
    expect(await get('autumn')).toMatchObject({ name: 'Other', ...booking });
  });
});

describe('GET /v1/campaigns', () => {
  it('200 with pages, by part of the name or the whole name, and only of the tenant', async () => {
    const foreign = admin.in((await admin.tenant('Foreign')).id);
    const own = admin.in(tenantId);
    expect((await foreign.put(`${path}/foreign`, booking)).status).toBe(200);
    for (const name of ['page 1', 'page 2', 'Page 3']) await own.put(`${path}/${name}`, {});
    const { items } = await walk(own, `${path}?search=page`, 2);
    expect(items.map(({ name }) => name).sort()).toEqual(['Page 3', 'page 1', 'page 2']);
    expect((await own.get(`${path}?name=PAGE%203`)).body.items).toMatchObject([{ name: 'Page 3' }]);
    expect((await own.get(`${path}?name=foreign`)).body.items).toEqual([]);
    expectProblem(await own.get(`${path}/foreign`), 'campaign_not_found');
    expectInvalid(await own.get(`${path}?cursor=page`), 'query.cursor');
  });
});

describe('DELETE /v1/tenants/:id', () => {
  it('deletes its campaigns', async () => {
    const { id } = await admin.tenant('Short-lived');
    await admin.in(id).put(`${path}/gone`, { client: 'Nobody & Sons' });
    const stored = async () => {
      const { text } = await admin.send('POST', '/v1/backup');
      return text.split('\n').some((line) => /"section":"campaigns".*"Nobody & Sons"/.test(line));
    };
    expect(await stored()).toBe(true);
    expect((await admin.delete(`/v1/tenants/${id}`)).status).toBe(204);
    expect(await stored()).toBe(false);
  });
});
