// Which screens use a file, and what is stored for that (docs/protocol.md §5.14).
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/domain/clock.ts';
import type { Rows, TableName } from '../../../src/store/sections.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { item } from '../../support/service/content.ts';
import { inStore } from '../../support/service/in-store.ts';
import { expectProblem, manager } from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import { startService } from '../../support/service/service.ts';

/** Starts a service with three files and screens. */
async function start(store: string) {
  const media = await temporaryFolder();
  const service = await startService({ store, media });
  const admin = manager(service);
  const venue = await service.venue({ timezone: 'Europe/Berlin' });
  const screens: { id: string }[] = [];
  const files: { id: string; url: string }[] = [];
  for (const number of [1, 2, 3]) {
    screens.push(await service.screen({ venueId: venue.id, name: `Screen ${number}` }));
    files.push((await upload(admin, someFile(number))).body);
  }
  const items = files.map(({ url }) => item({ creativeUrl: url }));
  const screenIds = screens.map(({ id }) => id);
  return {
    service,
    admin,
    venue,
    screenIds,
    files,
    items,
    publish: (some: typeof items, ids = screenIds) =>
      admin.post('/v1/publications', { screenIds: ids, action: 'publish', items: some }),
    async usedBy(): Promise<number[]> {
      const listed = (await admin.get('/v1/media')).body.items;
      const of = (id: string) => listed.find((one: { id: string }) => one.id === id).usedBy;
      return files.map(({ id }) => of(id));
    },
  };
}

/** Returns the rows with these ids. */
async function rowsOf<T extends TableName>(store: Store, table: T, ids: readonly string[]) {
  const rows = await Promise.all(ids.map((id) => store.read.get(table, id)));
  return rows.filter((row) => row !== undefined) as Rows[T][];
}

/** Replaces the notes of this version by the uses that version 0.1.0 noted. */
async function writeAsBefore(store: Store, screenIds: string[], contentIds: string[]) {
  const screens = await rowsOf(store, 'screenContents', screenIds);
  const media = await rowsOf(store, 'contentMedia', contentIds);
  await store.write(async (tx) => {
    for (const { id: ownerId, contents } of screens) {
      for (const { id, version } of contents)
        for (const { tenantId, mediaIds } of media.filter((one) => one.id === id))
          for (const fileId of mediaIds) {
            const [use, mediaId] = [`${ownerId}/${fileId}`, `${tenantId}/${fileId}`];
            await tx.put('mediaUses', { id: use, mediaId, level: 'screen', ownerId, version });
          }
      await tx.delete('screenContents', ownerId);
    }
    for (const { id } of media) await tx.delete('contentMedia', id);
  });
}

describe.each([
  ['the embedded store', () => temporaryFolder()],
  ['PostgreSQL', () => freshDatabase()],
])('uses of files, in %s', (_, makePlace) => {
  it('are noted once for each content, and once for each screen', async () => {
    const place = await makePlace();
    const { service, screenIds, items, publish, usedBy } = await start(place);
    await publish(items);
    await publish(items.slice(0, 2), screenIds.slice(0, 1));
    expect(await usedBy()).toEqual([3, 3, 3]);
    await service.close();
    await inStore(place, async (store) => {
      expect((await store.list('mediaUses', { limit: 9 })).items).toEqual([]);
      const noted = await rowsOf(store, 'screenContents', screenIds);
      expect(noted.map(({ contents }) => contents.map(({ version }) => version))).toEqual([
        [1, 2],
        [1],
        [1],
      ]);
      const contentIds = [
        ...new Set(noted.flatMap(({ contents }) => contents.map(({ id }) => id))),
      ];
      expect(contentIds).toHaveLength(2);
      const media = await rowsOf(store, 'contentMedia', contentIds);
      expect(media.map(({ mediaIds }) => mediaIds.length)).toEqual([3, 2]);
    });
  });

  it('are forgotten with the last version that names the file, and with the screen', async () => {
    const place = await makePlace();
    const { service, admin, screenIds, files, items, publish, usedBy } = await start(place);
    const others = (n: number) => [item({ creativeUrl: `https://media.example.com/${n}.png` })];
    await publish(items.slice(0, 1));
    await publish(items.slice(0, 1), screenIds.slice(1));
    for (let version = 2; version <= 20; version++) await publish(others(version));
    await publish(others(21), screenIds.slice(0, 1));
    expect(await usedBy()).toEqual([2, 0, 0]);
    await publish(items.slice(0, 1), screenIds.slice(0, 1));
    expect(await usedBy()).toEqual([3, 0, 0]);
    for (const id of screenIds) await admin.delete(`/v1/screens/${id}`);
    expect(await usedBy()).toEqual([0, 0, 0]);
    expect((await admin.delete(`/v1/media/${files[0]?.id}`)).status).toBe(204);
    await service.close();
  });

  it('that version 0.1.0 noted count as before, and are converted within a minute', async () => {
    const place = await makePlace();
    const town = await start(place);
    const { service, admin, venue, screenIds, files, items, publish, usedBy } = town;
    await publish(items);
    await publish(items.slice(0, 1), screenIds.slice(0, 1));
    await publish(items.slice(0, 1), screenIds.slice(0, 2));
    const entries = [{ days: ['mon'], items: items.slice(1, 2) }];
    expect((await admin.put(`/v1/venues/${venue.id}/schedule`, { entries })).status).toBe(200);
    await service.close();
    const contentIds = await inStore(place, async (store) => {
      const noted = await rowsOf(store, 'screenContents', screenIds);
      const ids = noted.flatMap(({ contents }) => contents.map(({ id }) => id));
      await writeAsBefore(store, screenIds, ids);
      const layers = await store.read.get('layers', `venue/${venue.id}`);
      const contentId = String(layers?.schedule?.entries[0]?.contentId);
      const [row] = await rowsOf(store, 'contentMedia', [contentId]);
      await store.write(async (tx) => {
        await tx.delete('contentMedia', contentId);
        const fileId = String(row?.mediaIds[0]);
        await tx.put('mediaUses', {
          id: `layers/${venue.id}/${fileId}`,
          mediaId: `${row?.tenantId}/${fileId}`,
          level: 'venue',
          ownerId: venue.id,
          version: null,
        });
      });
      return [...ids, contentId];
    });
    await service.restart();
    expect(await usedBy()).toEqual([3, 3, 3]);
    expectProblem(await admin.delete(`/v1/media/${files[2]?.id}`), 'media_in_use');
    service.clock.advance(minuteMs);
    // The service ends what it has begun.
    await service.restart();
    expect(await usedBy()).toEqual([3, 3, 3]);
    expectProblem(await admin.delete(`/v1/media/${files[2]?.id}`), 'media_in_use');
    await service.close();
    await inStore(place, async (store) => {
      expect((await store.list('mediaUses', { limit: 9 })).items).toEqual([]);
      const media = await rowsOf(store, 'contentMedia', [...new Set(contentIds)]);
      expect(media.map(({ mediaIds }) => mediaIds.length).sort()).toEqual([1, 1, 3]);
      const noted = await rowsOf(store, 'screenContents', screenIds);
      const versions = noted.map(({ contents }) => contents.map(({ version }) => version).sort());
      expect(versions).toEqual([[1, 2], [1, 2], [1]]);
    });
  });
});
