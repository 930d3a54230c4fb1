import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { mounted } from '../../support/service/mounted.ts';
import { adminToken, startService } from '../../support/service/service.ts';

let admin: Manager;
let count = 0;
const fresh = () => `Venue ${++count}`;

beforeAll(async () => {
  admin = manager(await startService());
});

describe('DELETE /v1/venues/:id', () => {
  it('204 deletes its config: a new venue of the same name has none', async () => {
    const { id, name } = await admin.venue(fresh());
    await admin.put(`/v1/venues/${id}/config`, { syncIntervalMinutes: 9 });
    expect((await admin.delete(`/v1/venues/${id}`)).status).toBe(204);
    expectProblem(await admin.get(`/v1/venues/${id}/config`), 'venue_not_found');
    const again = await admin.venue(name);
    expectProblem(await admin.get(`/v1/venues/${again.id}/config`), 'config_not_found');
  });

  it('409 venue_not_empty while it has screens, without changes', async () => {
    const venue = await admin.venue(fresh());
    const screen = await admin.screen(venue.id, 'Lobby');
    await admin.put(`/v1/venues/${venue.id}/config`, { syncIntervalMinutes: 9 });
    expectProblem(await admin.delete(`/v1/venues/${venue.id}`), 'venue_not_empty');
    expect((await admin.get(`/v1/venues/${venue.id}`)).body).toEqual(venue);
    expect((await admin.get(`/v1/venues/${venue.id}/config`)).status).toBe(200);
    await admin.delete(`/v1/screens/${screen.id}`);
    expect((await admin.delete(`/v1/venues/${venue.id}`)).status).toBe(204);
  });
});

describe('a name stored by an earlier version', () => {
  const old = 'Lob\u200bby\u202e';
  let store: Awaited<ReturnType<typeof openStore>>;
  let service: Awaited<ReturnType<typeof mounted>>;
  let path: string;
  beforeAll(async () => {
    const clock = new ManualClock();
    store = await openStore('memory:', { clock });
    service = await mounted({ store, clock });
    const { id } = await service.manage('POST', '/v1/venues', { name: 'Lobby' });
    path = `/v1/venues/${id}`;
    await store.write(async (tx) => {
      const venue = await tx.get('venues', id);
      if (venue) await tx.put('venues', { ...venue, name: old });
    });
  });
  afterAll(() => store.close());
  const send = (method: string, at: string, body?: unknown) =>
    service.send(method, at, { key: adminToken, body });

  it('is returned, and found by its name and a part of it', async () => {
    expect((await send('GET', path)).body.name).toBe(old);
    for (const query of [
      `name=${encodeURIComponent(old)}`,
      `search=${encodeURIComponent('b\u200bb')}`,
    ]) {
      expect((await send('GET', `/v1/venues?${query}`)).body.items).toMatchObject([{ name: old }]);
    }
  });

  it('stays when other members are patched, and stays taken', async () => {
    expect((await send('PATCH', path, { address: 'Here 1' })).body).toMatchObject({
      name: old,
      address: 'Here 1',
    });
    const again = await send('PATCH', path, { name: old });
    expect(again.status).toBe(400);
    expect((await send('PATCH', path, { name: 'Lobby 2' })).body.name).toBe('Lobby 2');
    expectProblem(await send('POST', '/v1/venues', { name: 'lobby 2' }), 'name_taken');
  });
});
