import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  expectProblem,
  type Manager,
  manager,
  unknownId,
  walk,
} from '../../support/management.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let platform: Manager;
let count = 0;
const fresh = () => `Tenant ${++count}`;

beforeAll(async () => {
  service = await startService();
  platform = manager(service);
});

describe('POST /v1/tenants', () => {
  it('201 with the record and its Location', async () => {
    const answer = await platform.post('/v1/tenants', { name: ' Aurora ' });
    expect(answer.status).toBe(201);
    const { id, createdAt } = answer.body;
    expect(answer.body).toEqual({ id, name: 'Aurora', createdAt, updatedAt: createdAt });
    expect(answer.headers.get('location')).toBe(`/v1/tenants/${id}`);
    expect((await platform.get(`/v1/tenants/${id}`)).body).toEqual(answer.body);
  });

  it('400 for unknown members and invalid names', async () => {
    expectInvalid(await platform.post('/v1/tenants', { nam: 'x' }), '/name', '/nam');
    expectInvalid(await platform.post('/v1/tenants', { name: 'a/b' }), '/name');
  });

  it('409 name_taken with existingId', async () => {
    const { id, name } = await platform.tenant(fresh());
    expectProblem(await platform.post('/v1/tenants', { name: name.toUpperCase() }), 'name_taken', {
      existingId: id,
    });
    expect((await platform.get(`/v1/tenants?name=${name}`)).body.items).toHaveLength(1);
  });
});

describe('GET /v1/tenants', () => {
  it('200 with all tenants, for any X-Tenant-Id, page by page', async () => {
    const { id } = await platform.tenant(fresh());
    const { items } = await walk(platform, '/v1/tenants', 1);
    expect(items.map(({ name }) => name)).toContain('default');
    expect(items.at(-1)).toMatchObject({ id });
    expect((await platform.in(id).get('/v1/tenants')).body.items).toEqual(items);
  });

  it('200 filtered by name and search; 400 for other filters', async () => {
    const one = await platform.tenant('Needle in the hay');
    expect((await platform.get('/v1/tenants?name=needle%20IN%20the%20hay')).body.items).toEqual([
      one,
    ]);
    expect((await platform.get('/v1/tenants?search=le%20in')).body.items).toEqual([one]);
    expectInvalid(await platform.get('/v1/tenants?id=1'), 'query.id');
  });
});

describe('PATCH /v1/tenants/:id', () => {
  it('200 with the new name', async () => {
    const tenant = await platform.tenant(fresh());
    service.clock.advance(5);
    const name = fresh();
    const { status, body } = await platform.patch(`/v1/tenants/${tenant.id}`, { name });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...tenant,
      name,
      updatedAt: new Date(service.clock.now()).toISOString(),
    });
  });

  it('200 and nothing changes for an empty patch', async () => {
    const tenant = await platform.tenant(fresh());
    service.clock.advance(5);
    expect((await platform.patch(`/v1/tenants/${tenant.id}`, {})).body).toEqual(tenant);
    expect((await platform.patch(`/v1/tenants/${tenant.id}`, { name: tenant.name })).body).toEqual(
      tenant,
    );
  });

  it('400, 404 and 409', async () => {
    const one = await platform.tenant(fresh());
    const other = await platform.tenant(fresh());
    expectInvalid(await platform.patch(`/v1/tenants/${one.id}`, { id: unknownId }), '/id');
    expectProblem(
      await platform.patch(`/v1/tenants/${unknownId}`, { name: fresh() }),
      'tenant_not_found',
    );
    expectProblem(
      await platform.patch(`/v1/tenants/${one.id}`, { name: other.name }),
      'name_taken',
      { existingId: other.id },
    );
    expect((await platform.get(`/v1/tenants/${one.id}`)).body).toEqual(one);
  });
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
      for (let round = 0; round < 5; round++) {
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

  it('404 tenant_not_found', async () =>
    expectProblem(await platform.delete(`/v1/tenants/${unknownId}`), 'tenant_not_found'));
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

  it('403 comes first: the role is checked before', async () => {
    const viewer = await platform.in(first).as('viewer');
    expectProblem(await viewer.in(second).post('/v1/venues', { name: 'x' }), 'insufficient_role');
  });
});
