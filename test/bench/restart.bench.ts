// The start after a crash behind many publications on many screens.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startService } from '../faults/kills/killed-service.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { adminToken as token } from '../support/service/management.ts';
import { managerAt } from '../support/service/service.ts';
import { summary } from './measure.ts';

const [publications, screenCount, rounds] = [580, 200, 5];

it(`start after a crash behind ${publications} publications on ${screenCount} screens`, async () => {
  const data = await temporaryFolder();
  const first = await startService(data, token);
  const admin = managerAt(first.url, token);
  const venueId = (await admin.post('/v1/venues', { name: 'Shops' })).body.id;
  for (let n = 0; n < screenCount; n++)
    expect((await admin.post('/v1/screens', { venueId, name: `Screen ${n}` })).status).toBe(201);
  for (let n = 0; n < publications; n++) {
    const item = {
      creativeId: crypto.randomUUID(),
      creativeUrl: `https://media.example.com/${n}.jpg`,
      creativeType: 'image',
      duration: 15,
    };
    const body = { selector: '!none', action: 'publish', items: [item] };
    expect((await admin.post('/v1/publications', body)).status).toBe(200);
  }
  await first.kill();
  const journal = spawnSync('du', ['-sm', join(data, 'journal')], { encoding: 'utf8' }).stdout;
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const copy = await temporaryFolder();
    spawnSync('cp', ['-a', `${data}/.`, copy]);
    const start = performance.now();
    const service = await startService(copy, token);
    took.push(performance.now() - start);
    await service.kill();
  }
  console.log(
    `start after a crash, journal of ${Number.parseInt(journal, 10)} MB: ${summary(took)} ms (bar: 5000)`,
  );
});
