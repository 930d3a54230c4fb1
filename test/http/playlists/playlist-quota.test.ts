// What the different playlists of a tenant may take (docs/protocol.md §5.4).
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { item } from '../../support/service/content.ts';
import { inStore } from '../../support/service/in-store.ts';
import { expectProblem, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';

/** Returns items of about so many KiB, which differ by their number. */
const items = (number: number, kib: number) =>
  Array.from({ length: Math.ceil(kib / 2) }, (_, n) =>
    item({ creativeUrl: `https://media.example.com/${number}/${n}/${'x'.repeat(1800)}.png` }),
  );

describe.each([
  ['the embedded store', () => temporaryFolder()],
  ['PostgreSQL', () => freshDatabase()],
])('large playlists, in %s', (_, makePlace) => {
  async function start(playlistQuotaMiB: number) {
    const store = await makePlace();
    const service = await startService({ store, playlistQuotaMiB });
    const admin = manager(service);
    const screens = [await service.screen(), await service.screen()] as [
      { id: string; venueId: string },
      { id: string },
    ];
    const put = (what: string, body: object, { id } = screens[0] as { id: string }) =>
      admin.put(`/v1/screens/${id}/${what}`, body);
    return { store, service, admin, screens, put };
  }

  it('409 playlist_quota_exceeded for more than the tenant may have at a time', async () => {
    const { service, admin, screens, put } = await start(1);
    const [one, other] = screens;
    const shared = items(1, 600);
    expect((await put('playlist', { items: shared })).status).toBe(200);
    const refused = await put('playlist', { items: items(2, 600) }, other);
    expectProblem(refused, 'playlist_quota_exceeded');
    expect(refused.body.detail).toContain('1048576 bytes');
    expectProblem(await admin.get(`/v1/screens/${other.id}/playlist`), 'playlist_not_found');
    const until = service.clock.now() / 1000 + 3600;
    expectProblem(
      await put('takeover', { items: items(3, 600), until }, other),
      'playlist_quota_exceeded',
    );
    const entries = [{ at: until, until: until + 60, items: items(4, 600) }];
    expectProblem(await put('schedule', { entries }, other), 'playlist_quota_exceeded');
    const many = { screenIds: [other.id], action: 'publish', items: items(5, 600) };
    expectProblem(await admin.post('/v1/publications', many), 'playlist_quota_exceeded');
    // The same items, few items, and those of another tenant take nothing.
    expect((await put('playlist', { items: shared }, other)).status).toBe(200);
    expect((await put('playlist', { items: items(6, 60) }, other)).status).toBe(200);
    const second = admin.in((await admin.tenant('Second')).id);
    const screen = await second.screen((await second.venue('Lobby')).id, 'Left');
    const path = `/v1/screens/${screen.id}/playlist`;
    expect((await second.put(path, { items: items(1, 600) })).status).toBe(200);
    // A shorter playlist makes room.
    const first = admin.in((await admin.get('/v1/tenants')).body.items[0].id);
    const short = await first.put(`/v1/screens/${one.id}/playlist`, { items: items(7, 2) });
    expect(short.status, short.text).toBe(200);
    const larger = await first.put(`/v1/screens/${other.id}/playlist`, { items: items(2, 600) });
    expect(larger.status, larger.text).toBe(200);
    await service.close();
  });

  it('leave the memory when newer ones replace them, and stay for a rollback', async () => {
    const { store: place, service, admin, screens, put } = await start(2);
    for (let number = 1; number <= 14; number++)
      expect((await put('playlist', { items: items(number, 900) })).status).toBe(200);
    const body = { screenIds: [screens[0].id], action: 'rollback', to: 2 };
    expect((await admin.post('/v1/publications', body)).body.results[0].changed).toBe(true);
    const shown = await admin.get(`/v1/screens/${screens[0].id}/playlist`);
    expect(shown.body.items[0].creativeUrl).toContain('/2/0/');
    await service.close();
    await inStore(place, async (store) => {
      expect((await store.supersededContents()).length).toBeLessThanOrEqual(6);
    });
  });
});
