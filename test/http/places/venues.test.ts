import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

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
