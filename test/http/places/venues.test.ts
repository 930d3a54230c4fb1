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

describe('hours', () => {
  const hours = [{ days: ['mon'], from: '08:00', to: '18:00' }];

  it('400 timezone_required without a time zone, of a venue and of its screens', async () => {
    expectProblem(await admin.post('/v1/venues', { name: fresh(), hours }), 'timezone_required');
    const { id } = await admin.venue(fresh());
    const path = `/v1/venues/${id}`;
    expectProblem(await admin.patch(path, { hours }), 'timezone_required');
    const screen = await admin.screen(id, 'Lobby');
    expectProblem(await admin.patch(`/v1/screens/${screen.id}`, { hours }), 'timezone_required');
    const other = { venueId: id, name: 'Bar', hours };
    expectProblem(await admin.post('/v1/screens', other), 'timezone_required');
    expect((await admin.patch(`/v1/screens/${screen.id}`, { hours: [] })).status).toBe(200);
    const both = await admin.patch(path, { hours, timezone: 'Europe/Berlin' });
    expect(both.body).toMatchObject({ hours, timezone: 'Europe/Berlin' });
    expect((await admin.post('/v1/screens', other)).body).toMatchObject({ hours });
  });

  it('409 timezone_in_use when the time zone is removed that they need', async () => {
    const made = { name: fresh(), timezone: 'Europe/Berlin', hours };
    const { id } = (await admin.post('/v1/venues', made)).body;
    const path = `/v1/venues/${id}`;
    expectProblem(await admin.patch(path, { timezone: null }), 'timezone_in_use');
    const screen = await admin.screen(id, 'Lobby');
    await admin.patch(`/v1/screens/${screen.id}`, { hours });
    await admin.patch(path, { hours: null });
    expectProblem(await admin.patch(path, { timezone: null }), 'timezone_in_use');
    await admin.patch(`/v1/screens/${screen.id}`, { hours: null });
    expect((await admin.patch(path, { timezone: null })).body).toMatchObject({ timezone: null });
  });

  it.each([
    [{ days: [], from: '08:00', to: '18:00' }, '/hours/0/days'],
    [{ days: ['mon', 'nooday'], from: '08:00', to: '18:00' }, '/hours/0/days/1'],
    [{ days: 'mon-', from: '08:00', to: '18:00' }, '/hours/0/days'],
    [{ days: ['mon'], from: '24:00', to: '18:00' }, '/hours/0/from'],
    [{ days: ['mon'], from: '08:00', to: '24:01' }, '/hours/0/to'],
  ])('400 for %j', async (entry, path) => {
    const answer = await admin.post('/v1/venues', { name: fresh(), hours: [entry] });
    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors).toMatchObject([{ path }]);
  });

  it.each([
    [{ days: ['Mon', 'tue'], from: '8:00', to: '24:00' }],
    [{ days: 'Mo-Tu', from: '08:00', to: '24:00' }],
    [{ days: ['mon-tue'], from: '8:00', to: '00:00' }],
  ])('%j are read as on the command line, and answered in one way', async (entry) => {
    const body = { name: fresh(), timezone: 'Europe/Berlin', hours: [entry] };
    expect((await admin.post('/v1/venues', body)).body).toMatchObject({
      hours: [{ days: ['mon', 'tue'], from: '08:00', to: '00:00' }],
    });
  });
});

describe('hoursExceptions', () => {
  const closed = { dates: { from: '2026-12-25', until: '2026-12-26' } };
  const short = { dates: { from: '2026-12-24', until: '2026-12-24' }, from: '8:00', to: '14:00' };
  const stored = [closed, { ...short, from: '08:00' }];

  it('are stored, changed and removed, with another ETag each time', async () => {
    const body = { name: fresh(), timezone: 'Europe/Berlin', hoursExceptions: [closed, short] };
    const made = await admin.post('/v1/venues', body);
    expect(made.body).toMatchObject({ hours: null, hoursExceptions: stored });
    const path = `/v1/venues/${made.body.id}`;
    const before = await admin.get(path);
    expect(before.body).toEqual(made.body);
    const hours = [{ days: ['mon'], from: '08:00', to: '18:00' }];
    expect((await admin.patch(path, { hours })).body).toMatchObject({
      hours,
      hoursExceptions: stored,
    });
    const removed = await admin.patch(path, { hoursExceptions: [] });
    expect(removed.body).toMatchObject({ hours, hoursExceptions: null });
    const etags = [before, await admin.get(path)].map(({ headers }) => headers.get('etag'));
    expect(etags[0]).not.toBe(etags[1]);
  });

  it('need a time zone, and keep it', async () => {
    const hoursExceptions = [closed];
    const body = { name: fresh(), hoursExceptions };
    expectProblem(await admin.post('/v1/venues', body), 'timezone_required');
    const venue = (await admin.post('/v1/venues', { ...body, timezone: 'UTC' })).body;
    const path = `/v1/venues/${venue.id}`;
    expectProblem(await admin.patch(path, { timezone: null }), 'timezone_in_use');
    await admin.patch(path, { hoursExceptions: null });
    const screen = await admin.screen(venue.id, 'Lobby');
    await admin.patch(`/v1/screens/${screen.id}`, { hoursExceptions });
    expectProblem(await admin.patch(path, { timezone: null }), 'timezone_in_use');
  });

  it.each([
    [{ dates: { from: '2026-12-25' } }, '/hoursExceptions/0/dates/until'],
    [{ dates: { from: '2026-12-26', until: '2026-12-25' } }, '/hoursExceptions/0/dates/until'],
    [{ dates: { from: '2026-02-30', until: '2026-03-01' } }, '/hoursExceptions/0/dates/from'],
    [{ ...closed, from: '08:00' }, '/hoursExceptions/0/to'],
    [{ ...closed, off: true }, '/hoursExceptions/0/off'],
  ])('400 for %j', async (entry, path) => {
    const body = { name: fresh(), timezone: 'UTC', hoursExceptions: [entry] };
    const answer = await admin.post('/v1/venues', body);
    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors).toMatchObject([{ path }]);
  });
});
