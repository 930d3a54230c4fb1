// Makes the data of this version, which all later versions must open (CONTRIBUTING.md "Release").
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openMediaStore } from '../../../src/media/open-media-store.ts';
import { sectionNames } from '../../../src/store/dump/records.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { nameKey } from '../../../src/store/sections.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startReceiver } from '../../support/network/webhook-receiver.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { startService } from '../../support/service/service.ts';
import { bytesOf, recordsIn } from '../dump/backup-load.ts';
import { ask, publicUrl, releasedData, webhookAllow } from './exchange.ts';
import { makeHistory } from './history.ts';

it('makes the data of this version', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const clock = new ManualClock(Date.UTC(2026, 9, 13, 10));
  const folder = await temporaryFolder();
  const receiver = await startReceiver();
  const open = () => openStore(folder, { clock });

  const filling = await open();
  const media = await openMediaStore(join(folder, 'media'), clock);
  const options = { clock, publicUrl, webhookAllow };
  const filled = await startService({ ...options, store: filling, media, retentionDays: 2 });
  const requests = await makeHistory(filled, { store: filling, receiver });
  await filled.close();
  await filling.close();

  const store = await open();
  // A running service empties the outbox at once.
  await store.write(async (tx) => {
    const tenant = await tx.find('tenants', 'name', nameKey(null, 'Second'));
    await tx.put('outbox', {
      id: crypto.randomUUID(),
      tenantId: tenant!.id,
      at: tx.stamp,
      type: 'screen.recovered',
      venueId: null,
      screenId: null,
      deviceId: null,
      data: { condition: 'ok' },
    });
  });
  const backup = await bytesOf(await store.backup(media));
  await store.close();
  await media.close();
  const { counts } = recordsIn(backup).at(-1).end;
  expect([...sectionNames(), 'files'].filter((section) => !counts[section])).toEqual([]);

  const place = fileURLToPath(new URL(version, releasedData));
  // Throws if the folder exists: the data of a released version never change.
  await mkdir(place);
  await cp(folder, join(place, 'data'), { recursive: true });
  await writeFile(join(place, 'backup.dump'), backup);

  const service = await startService({ ...options, store: folder });
  const exchanges: string[] = [];
  for (const asked of requests)
    exchanges.push(JSON.stringify({ asked, answered: await ask(service, asked) }));
  await writeFile(
    join(place, 'exchanges.json'),
    `{"nowMs":${clock.now()},"exchanges":[\n${exchanges.join(',\n')}\n]}\n`,
  );
});
