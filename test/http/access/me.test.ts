import { beforeAll, describe, expect, it } from 'vitest';
import { type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let platform: Manager;

beforeAll(async () => {
  service = await startService();
  platform = manager(service);
});

describe('GET /v1/me', () => {
  it('200 with token, role, limits and tenant', async () => {
    const { id: venueId, tenantId } = await platform.venue('Hall');
    const creation = {
      name: 'Night shift',
      role: 'installer',
      expiresAt: '2099-01-01T00:00:00.000Z',
      venueIds: [venueId],
    };
    const { id, token } = await platform.newToken(creation);
    expect(await manager(service, token).get('/v1/me')).toMatchObject({
      status: 200,
      body: { ...creation, tokenId: id, tenantId, tenantName: 'default' },
    });
  });

  it('200 for a platform token: the only tenant, null if there are several, or the named one', async () => {
    const { body } = await platform.get('/v1/me');
    expect(body).toMatchObject({ name: 'bootstrap', role: 'platform', tenantName: 'default' });
    const other = await platform.tenant('Other');
    expect((await platform.get('/v1/me')).body).toEqual({
      ...body,
      tenantId: null,
      tenantName: null,
    });
    expect((await platform.in(other.id).get('/v1/me')).body).toEqual({
      ...body,
      tenantId: other.id,
      tenantName: 'Other',
    });
  });

  it('200 for a backup token, which belongs to no tenant', async () => {
    const own = await startService();
    const by = manager(own);
    const { id, token } = await by.newToken({ name: 'Nightly', role: 'backup' });
    await by.tenant('Other');
    const { status, body } = await manager(own, token).get('/v1/me');
    expect(status).toBe(200);
    expect(body).toEqual({
      tokenId: id,
      name: 'Nightly',
      role: 'backup',
      expiresAt: null,
      venueIds: null,
      tenantId: null,
      tenantName: null,
    });
  });

  it('returns the current name of the tenant', async () => {
    const other = await platform.tenant('Old name');
    const viewer = await platform.in(other.id).as('viewer');
    await platform.patch(`/v1/tenants/${other.id}`, { name: 'New name' });
    expect((await viewer.get('/v1/me')).body.tenantName).toBe('New name');
  });
});
