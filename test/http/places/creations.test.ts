// `Idempotency-Key` on management POSTs (docs/protocol.md §5.11): a lost answer can be repeated,
// and creates nothing twice.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import {
  type Answer,
  adminToken,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const hourMs = 60 * 60 * 1000;
let count = 0;
const fresh = (noun: string) => `${noun} ${++count}`;
const newKey = () => `key-${crypto.randomUUID()}`;

let service: TestService;
let admin: Manager;

/** Sends a creation with an `Idempotency-Key`. */
function send(path: string, key: string, body: unknown, caller = admin): Promise<Answer> {
  return caller.send('POST', path, { headers: { 'Idempotency-Key': key }, body });
}

const codes = '/v1/devices/provisioning-codes';
const newScreen = async () => admin.screen((await admin.venue(fresh('Venue'))).id, fresh('Screen'));

/** The operations that create a record. */
const operations: Record<string, { path: string; body(): Promise<Record<string, unknown>> }> = {
  tenant: { path: '/v1/tenants', body: async () => ({ name: fresh('Tenant') }) },
  token: { path: '/v1/tokens', body: async () => ({ name: fresh('Token'), role: 'viewer' }) },
  venue: { path: '/v1/venues', body: async () => ({ name: fresh('Venue'), labels: { a: 'b' } }) },
  screen: {
    path: '/v1/screens',
    body: async () => ({
      venueId: (await admin.venue(fresh('Venue'))).id,
      name: fresh('Screen'),
    }),
  },
  code: { path: codes, body: async () => ({ screenId: (await newScreen()).id }) },
};

/** The member of a code that counts down. */
const remaining = (answer: Answer | undefined) =>
  answer?.body.expiresInSeconds === undefined
    ? {}
    : { expiresInSeconds: answer.body.expiresInSeconds };

describe('Idempotency-Key of a creation', () => {
  beforeAll(async () => {
    service = await startService();
    const { tenantId } = (await manager(service).get('/v1/me')).body;
    admin = manager(service, adminToken, tenantId);
    service.tenantId = tenantId;
  });

  it.each(Object.entries(operations))(
    '%s: the same key and body get the same 201, and create one record',
    async (_, { path, body }) => {
      const wanted = await body();
      const key = newKey();
      const first = await send(path, key, wanted);
      expect(first.status, first.text).toBe(201);
      const changes = (await admin.get('/v1/audit?limit=200')).body.items;
      const repeat = await send(path, key, wanted);
      expect(repeat.status).toBe(201);
      expect(repeat.body).toEqual({ ...first.body, ...remaining(repeat) });
      for (const name of ['location', 'etag', 'cache-control'])
        expect(repeat.headers.get(name)).toBe(first.headers.get(name));
      expect((await admin.get('/v1/audit?limit=200')).body.items).toEqual(changes);
    },
  );

  it.each(Object.entries(operations))(
    '%s: of eight concurrent requests with one key, one creates it, and all get it',
    async (_, { path, body }) => {
      const wanted = await body();
      const key = newKey();
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(path, key, wanted)));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
      const bodies = answers.map(({ body }) => ({ ...body, ...remaining(answers[0]) }));
      expect(bodies).toEqual(Array(8).fill(answers[0]?.body));
    },
  );

  it('is used for a creation of another kind, by another token, and in another tenant', async () => {
    const key = newKey();
    const body = { name: fresh('Shared') };
    const other = await admin.as('operator');
    const elsewhere = admin.in((await admin.tenant(fresh('Tenant'))).id);
    expect((await send('/v1/venues', key, body)).status).toBe(201);
    expect((await send('/v1/tenants', key, body)).status).toBe(201);
    expect((await send('/v1/venues', key, body, elsewhere)).status).toBe(201);
    expectProblem(await send('/v1/venues', key, body, other), 'name_taken');
  });

  it('is free again after a creation that was rejected', async () => {
    const key = newKey();
    const venue = await admin.venue(fresh('Venue'));
    expectProblem(await send('/v1/venues', key, { name: venue.name }), 'name_taken');
    expect((await admin.delete(`/v1/venues/${venue.id}`)).status).toBe(204);
    expect((await send('/v1/venues', key, { name: venue.name })).status).toBe(201);
  });

  it.each(['x'.repeat(256), 'with a blank in it'])('400 for the key %j', async (key) =>
    expectInvalid(
      await send('/v1/venues', key, { name: fresh('Venue') }),
      'header.idempotency-key',
    ),
  );

  it('gives the record as it is now, when it was changed', async () => {
    const key = newKey();
    const body = { name: fresh('Venue') };
    const { id } = (await send('/v1/venues', key, body)).body;
    const changed = await admin.patch(`/v1/venues/${id}`, { address: 'Elsewhere 1' });
    const repeat = await send('/v1/venues', key, body);
    expect(repeat.status).toBe(201);
    expect(repeat.body).toEqual(changed.body);
    expect(repeat.headers.get('etag')).toBe(changed.headers.get('etag'));
  });

  it('409 not_repeatable for a code that was cancelled, or has expired', async () => {
    const cancelled = { key: newKey(), body: { screenId: (await newScreen()).id } };
    const expired = { key: newKey(), body: { screenId: (await newScreen()).id } };
    const codeOf = async ({ key, body }: typeof expired) =>
      (await send(codes, key, body)).body.code;
    expect((await admin.delete(`${codes}/${await codeOf(cancelled)}`)).status).toBe(204);
    await codeOf(expired);
    service.clock.advance(16 * 60 * 1000);
    for (const { key, body } of [cancelled, expired])
      expectProblem(await send(codes, key, body), 'not_repeatable');
  });

  it('creates another record after 24 hours', async () => {
    const key = newKey();
    const body = { screenId: (await newScreen()).id };
    const first = (await send(codes, key, body)).body;
    service.clock.advance(24 * hourMs);
    const second = await send(codes, key, body);
    expect(second.status).toBe(201);
    expect(second.body.code).not.toBe(first.code);
  });
});
