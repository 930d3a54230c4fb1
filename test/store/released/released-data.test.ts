// The data of each released version open in this version, and give the answers of that version.
import { createReadStream } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isDatabaseUrl } from '../../../src/domain/store-url.ts';
import { checkStore, verifyAudit } from '../../../src/store/maintenance/check.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService } from '../../support/service/service.ts';
import { ask, type Exchange, publicUrl, releasedData, webhookAllow } from './exchange.ts';

const root = fileURLToPath(releasedData);

interface Place {
  store: string;
  media: string;
}

async function folder(): Promise<Place> {
  const store = await temporaryFolder();
  return { store, media: join(store, 'media') };
}

const database = async (): Promise<Place> => ({
  store: await freshDatabase(),
  media: await temporaryFolder(),
});

async function copyData(version: string, { store }: Place): Promise<void> {
  await cp(join(root, version, 'data'), store, { recursive: true });
}

async function restore(version: string, { store, media }: Place, clock: ManualClock) {
  const backup = createReadStream(join(root, version, 'backup.dump'));
  await restoreStore(backup, store, { clock, media });
}

describe.each(await readdir(root))('the data of %s', (version) => {
  it.each([
    ['a data folder', folder, copyData],
    ['a backup, restored into a data folder', folder, restore],
    ['a backup, restored into a database', database, restore],
  ])('open as %s, with the same answers', async (_, makePlace, fill) => {
    const text = await readFile(join(root, version, 'exchanges.json'), 'utf8');
    const { nowMs, exchanges } = JSON.parse(text) as { nowMs: number; exchanges: Exchange[] };
    const clock = new ManualClock(nowMs);
    const place = await makePlace();
    await fill(version, place, clock);
    // Git does not keep the modes of files.
    const options = { publicUrl, webhookAllow, allowOpenData: true };
    const service = await startService({ ...place, clock, ...options });
    for (const { asked, answered } of exchanges)
      expect(await ask(service, asked), asked.path).toMatchObject(answered);
    await service.close();
    expect((await verifyAudit(place.store)).findings).toEqual([]);
    // A start does not check each row.
    if (!isDatabaseUrl(place.store)) expect(await checkStore(place.store)).toEqual([]);
  });
});
