import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectProblem,
  type Manager,
  manager,
  unknownId,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let platform: Manager;
let count = 0;
const fresh = () => `Tenant ${++count}`;

beforeAll(async () => {
  service = await startService();
  platform = manager(service);
});

describe('DELETE /v1/tenants/:id', () => {
  it('204, and its tokens and config go with it', async () => {
    const { id, name } = await platform.tenant(fresh());
    const viewer = await platform.in(id).as('viewer');
    await platform.in(id).put(`/v1/tenants/${id}/config`, { syncIntervalMinutes: 9 });
    expect((await viewer.get('/v1/me')).status).toBe(200);
    expect((await platform.delete(`/v1/tenants/${id}`)).status).toBe(204);
    expectProblem(await viewer.get('/v1/me'), 'credential_invalid');
    expectProblem(await platform.get(`/v1/tenants/${id}`), 'tenant_not_found');
    expectProblem(await platform.in(id).get('/v1/venues'), 'tenant_not_found');
    const again = await platform.tenant(name);
    expectProblem(
      await platform.in(again.id).get(`/v1/tenants/${again.id}/config`),
      'config_not_found',
    );
  });

  it('409 tenant_not_empty while it has venues, without changes', async () => {
    const { id } = await platform.tenant(fresh());
    const inside = platform.in(id);
    const viewer = await inside.as('viewer');
    const venue = await inside.venue('Hall');
    expectProblem(await platform.delete(`/v1/tenants/${id}`), 'tenant_not_empty');
    expect((await viewer.get(`/v1/venues/${venue.id}`)).status).toBe(200);
    await inside.delete(`/v1/venues/${venue.id}`);
    expect((await platform.delete(`/v1/tenants/${id}`)).status).toBe(204);
  });

  it.each([
    ['venue', '/v1/venues', { name: 'Hall' }],
    ['token', '/v1/tokens', { name: 'Night shift', role: 'viewer' }],
  ])(
    'leaves no %s without a tenant when one is created simultaneously',
    async (kind, path, body) => {
      for (let round = 0; round < 3; round++) {
        const { id } = await platform.tenant(fresh());
        const [gone, made] = await Promise.all([
          platform.delete(`/v1/tenants/${id}`),
          platform.in(id).post(path, body),
        ]);
        if (made.status === 404) expectProblem(made, 'tenant_not_found');
        else expect(made.status).toBe(201);
        if (kind === 'venue') expect(gone.status).toBe(made.status === 201 ? 409 : 204);
        else if (made.status === 201)
          expectProblem(
            await manager(service, made.body.token).get('/v1/me'),
            'credential_invalid',
          );
      }
    },
  );
});

describe('the last tenant', () => {
  beforeEach(async () => {
    service = await startService();
    platform = manager(service);
  });

  it('409 last_tenant, and it stays', async () => {
    const [only] = (await platform.get('/v1/tenants')).body.items;
    expectProblem(await platform.delete(`/v1/tenants/${only.id}`), 'last_tenant');
    expect((await platform.get('/v1/tenants')).body.items).toEqual([only]);
    await platform.tenant('Another');
    expect((await platform.delete(`/v1/tenants/${only.id}`)).status).toBe(204);
  });

  it('409 for one when the last two are deleted simultaneously', async () => {
    await platform.tenant('Another');
    const { items } = (await platform.get('/v1/tenants')).body;
    const answers = await Promise.all(
      items.map(({ id }: { id: string }) => platform.delete(`/v1/tenants/${id}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    expect((await platform.get('/v1/tenants')).body.items).toHaveLength(1);
  });
});

describe('X-Tenant-Id', () => {
  let first: string;
  let second: string;

  beforeAll(async () => {
    service = await startService();
    platform = manager(service);
    first = (await platform.get('/v1/me')).body.tenantId;
  });

  it('may be left out by a platform token while there is one tenant', async () => {
    expect((await platform.venue('Hall')).tenantId).toBe(first);
    expect((await platform.in(first).get('/v1/venues?name=hall')).body.items).toHaveLength(1);
  });

  it('400 tenant_required once there are two, and nothing is written', async () => {
    second = (await platform.tenant('Second')).id;
    expectProblem(await platform.post('/v1/venues', { name: 'Lost' }), 'tenant_required');
    expectProblem(await platform.get('/v1/venues'), 'tenant_required');
    for (const id of [first, second])
      expect((await platform.in(id).get('/v1/venues?name=lost')).body.items).toEqual([]);
  });

  it('is not required by /v1/tenants and /v1/me', async () => {
    expect((await platform.get('/v1/tenants')).status).toBe(200);
    expect((await platform.get(`/v1/tenants/${second}`)).status).toBe(200);
    expect((await platform.get('/v1/me')).body).toMatchObject({ tenantId: null, tenantName: null });
  });

  it('names the tenant that a platform token acts in, in any case', async () => {
    const venue = await platform.in(second.toUpperCase()).venue('Hall');
    expect(venue.tenantId).toBe(second);
    expectProblem(await platform.in(first).get(`/v1/venues/${venue.id}`), 'venue_not_found');
    expect((await platform.in(second).get(`/v1/venues/${venue.id}`)).body).toEqual(venue);
  });

  it.each([unknownId, 'x', ''])('404 tenant_not_found for %j, with every token', async (id) => {
    expectProblem(await platform.in(id).get('/v1/venues'), 'tenant_not_found');
    expectProblem(await platform.in(id).get('/v1/tenants'), 'tenant_not_found');
    expectProblem(
      await (await platform.in(first).as('admin')).in(id).get('/v1/venues'),
      'tenant_not_found',
    );
  });

  it('is ignored for other tokens if it names their own tenant; 404 as for an unknown one otherwise', async () => {
    const viewer = await platform.in(first).as('viewer');
    expect((await viewer.in(first).get('/v1/venues')).body).toEqual(
      (await viewer.get('/v1/venues')).body,
    );
    expect((await viewer.in(first.toUpperCase()).get('/v1/venues')).status).toBe(200);
    const [foreign, unknown] = [
      await viewer.in(second).get('/v1/venues'),
      await viewer.in(unknownId).get('/v1/venues'),
    ];
    expectProblem(foreign, 'tenant_not_found');
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
  });
});
