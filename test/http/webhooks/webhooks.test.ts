import { beforeAll, describe, expect, it } from 'vitest';
import { isSignedBy, startReceiver } from '../../support/network/webhook-receiver.ts';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let admin: Manager;
beforeAll(async () => {
  service = await startService({ webhookAllow: ['127.0.0.1'] });
  admin = manager(service);
});

const url = 'https://receiver.example/hook/with-secret';
const create = async (more: object = {}) =>
  (await admin.post('/v1/webhooks', { url, ...more })).body;

describe('POST /v1/webhooks', () => {
  it('201 with the secret, which no other answer contains', async () => {
    const answer = await admin.post('/v1/webhooks', { url, types: ['screen.*'], name: 'Chat' });
    expect(answer.status).toBe(201);
    const { secret, ...rest } = answer.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(rest).toMatchObject({ url, types: ['screen.*'], name: 'Chat', state: 'active' });
    const read = await admin.get(`/v1/webhooks/${rest.id}`);
    expect(read.body).toEqual(rest);
    expect((await admin.get('/v1/webhooks')).text).not.toContain(secret);
  });

  it('the same answer again for the same Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const send = () => admin.send('POST', '/v1/webhooks', { body: { url }, headers });
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    await admin.post(`/v1/webhooks/${first.body.id}/secret`);
    expectProblem(await send(), 'not_repeatable');
  });

  it.each(['http://93.184.216.34/', 'https://10.0.0.1/', 'https://a:b@receiver.example/'])(
    '400 address_refused for %s',
    async (refused) => {
      expectProblem(await admin.post('/v1/webhooks', { url: refused }), 'address_refused');
    },
  );

  it.each([
    [{}, '/url'],
    [{ url: 'no URL' }, '/url'],
    [{ url, types: ['screen.unknown'] }, '/types/0'],
    [{ url, venueIds: [] }, '/venueIds'],
    [{ url, state: 'active' }, '/state'],
  ])('400 for %o', async (body, path) => {
    expectInvalid(await admin.post('/v1/webhooks', body), path);
  });

  it('shows no path of the URL in the audit trail', async () => {
    const { id } = await create();
    const [entry] = (await admin.get(`/v1/audit?subjectId=${id}`)).body.items;
    expect(entry.details).toEqual({
      name: null,
      receiver: 'https://receiver.example',
      state: 'active',
    });
  });
});

describe('PATCH /v1/webhooks/:id', () => {
  it('changes members and pauses, with a revision', async () => {
    const { id } = await create();
    const etag = (await admin.get(`/v1/webhooks/${id}`)).headers.get('etag') ?? '';
    const patch = (headers: Record<string, string>) =>
      admin.send('PATCH', `/v1/webhooks/${id}`, {
        body: { state: 'paused', name: 'Off' },
        headers,
      });
    expect((await patch({ 'If-Match': etag })).body).toMatchObject({
      state: 'paused',
      name: 'Off',
    });
    expectProblem(await patch({ 'If-Match': etag }), 'precondition_failed');
  });

  it('narrows it to venues, and changes nothing for the same members', async () => {
    const { id } = await create();
    const venue = await admin.venue('Narrow');
    const narrow = () => admin.patch(`/v1/webhooks/${id}`, { venueIds: [venue.id] });
    const first = await narrow();
    expect(first.body.venueIds).toEqual([venue.id]);
    service.clock.advance(1000);
    expect((await narrow()).body).toEqual(first.body);
    const unknown = { venueIds: [crypto.randomUUID()] };
    expectProblem(await admin.patch(`/v1/webhooks/${id}`, unknown), 'venue_not_found');
  });

  it('400 address_refused for a forbidden address', async () => {
    const { id } = await create();
    const answer = await admin.patch(`/v1/webhooks/${id}`, { url: 'https://[::1]/' });
    expectProblem(answer, 'address_refused');
    expect((await admin.get(`/v1/webhooks/${id}`)).body.url).toBe(url);
  });
});

describe('DELETE', () => {
  it('a webhook', async () => {
    const { id } = await create();
    expect((await admin.delete(`/v1/webhooks/${id}`)).status).toBe(204);
    expectProblem(await admin.get(`/v1/webhooks/${id}`), 'webhook_not_found');
  });
});

describe('POST /v1/webhooks/:id/test', () => {
  it('sends a signed message to a paused webhook too, and shows the answer', async () => {
    const receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(418).end('I am a teapot\u0007');
    const { id, secret } = await create({ url: receiver.url });
    await admin.patch(`/v1/webhooks/${id}`, { state: 'paused' });
    const answer = await admin.post(`/v1/webhooks/${id}/test`);
    expect(answer.body).toMatchObject({
      delivered: false,
      status: 418,
      error: null,
      text: 'I am a teapot',
    });
    const [message] = receiver.received;
    expect(message?.body).toMatchObject({ type: 'webhook.test' });
    expect(message && isSignedBy(message, secret)).toBe(true);
  });

  it('one of a tenant at a time, and says nothing to a token that was deleted meanwhile', async () => {
    const receiver = await startReceiver();
    const held: (() => void)[] = [];
    receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const { id } = await create({ url: receiver.url });
    const { id: tokenId, token } = (
      await admin.post('/v1/tokens', { name: 'Tester', role: 'admin' })
    ).body;
    const test = (caller: Manager) => caller.post(`/v1/webhooks/${id}/test`);
    const first = test(manager(service, token));
    await expect.poll(() => held.length).toBe(1);
    const refused = await test(admin);
    expectProblem(refused, 'unavailable');
    expect(refused.headers.get('retry-after')).toBe('1');
    await admin.delete(`/v1/tokens/${tokenId}`);
    for (const end of held) end();
    expect((await first).status).toBe(401);
    receiver.answer = (response) => response.writeHead(204).end();
    expect((await test(admin)).body.delivered).toBe(true);
  });

  it('says why a receiver cannot be reached', async () => {
    const { id } = await create({ url: 'http://127.0.0.1:9/' });
    const answer = await admin.post(`/v1/webhooks/${id}/test`);
    expect(answer.body).toMatchObject({ delivered: false, status: null, error: 'ECONNREFUSED' });
  });
});

it('a tenant takes its webhooks with it', async () => {
  const tenant = (await admin.post('/v1/tenants', { name: 'Short-lived' })).body;
  const other = manager(service, undefined, tenant.id);
  const { id } = (await other.post('/v1/webhooks', { url })).body;
  expect((await other.get('/v1/webhooks')).body.items).toHaveLength(1);
  expect((await admin.delete(`/v1/tenants/${tenant.id}`)).status).toBe(204);
  expectProblem(await admin.get(`/v1/webhooks/${id}`), 'webhook_not_found');
});
