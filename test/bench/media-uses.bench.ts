// A chain of shops shows the same files on all its screens. TVs of another tenant must not notice.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { copyStore } from '../../src/store/maintenance/copy.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { adminToken as token } from '../support/service/management.ts';
import { idOf, someFile, upload } from '../support/service/media.ts';
import { managerAt } from '../support/service/service.ts';
import { startAskingTvs } from './asking/asking-tvs.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { fillWithFleet } from './fleet/fleet.ts';
import { share, summary, timed } from './measure.ts';
import { type Served, startServed } from './served.ts';

const sizes = [
  { files: 200, screens: 500 },
  { files: 500, screens: 1000 },
];
const rounds = 5;

const itemOf = (id: string) => ({
  creativeId: crypto.randomUUID(),
  creativeUrl: `/media/${id}.svg`,
  creativeType: 'image' as const,
  duration: 15,
});

async function measure(title: string, served: Served, fileCount: number): Promise<void> {
  const { url } = served;
  const admin = managerAt(url, token);
  const [{ id: tenantId }] = (await admin.get('/v1/tenants')).body.items.filter(
    ({ name }: { name: string }) => name === 'default',
  );
  const chain = admin.in(tenantId);
  const files = Array.from({ length: fileCount }, (_, n) => someFile(n));
  for (const file of files) expect((await upload(chain, file)).status).toBe(201);
  const items = files.map((file) => itemOf(idOf(file)));
  await sleep(2000);
  const before = await served.usage();
  await served.resetHolds();
  const tvs = await startAskingTvs(url, token);
  const management = new ManagementClient({ url, token, tenantId });
  const published: number[] = [];
  const listed: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const body = {
      selector: '!none',
      action: 'publish' as const,
      items: [...items.slice(round), ...items.slice(0, round)],
    };
    published.push((await timed(() => management.call('publishMany', { body }))).ms);
    await sleep(500);
    const list = await timed(() => management.call('listMedia', { query: {} }));
    expect(list.result.items[0]?.usedBy).toBeGreaterThan(0);
    listed.push(list.ms);
    await sleep(500);
  }
  const latencies = await tvs.taken();
  await tvs.stop();
  const { longestOwnHoldMs, residentMB } = await served.usage();
  await sleep(60_000);
  const after = await served.usage();
  console.log(
    `${title}: published in ${summary(published)} ms (bar: 500), listed in ${summary(listed)} ms (bar: 50); ` +
      `another tenant's TVs p99 ${share(latencies, 0.99).toFixed(0)} ms, worst ${share(latencies, 1).toFixed(0)} (bar: 100), ` +
      `longest hold ${longestOwnHoldMs.toFixed(0)} ms, +${(residentMB - before.residentMB).toFixed(0)} MB, +${(after.residentMB - before.residentMB).toFixed(0)} MB a minute later (bar: 60)`,
  );
}

describe.each(sizes)('$files files on $screens screens', ({ files, screens }) => {
  it('embedded store', async () => {
    const data = await temporaryFolder();
    await fillWithFleet(data, screens);
    const served = await startServed(data, token);
    await measure(`${files} files, ${screens} screens`, served, files);
    await served.stop();
  });

  it('PostgreSQL', async () => {
    const server = await startDurablePostgres();
    const database = await server.create('chain');
    const data = await temporaryFolder();
    await fillWithFleet(data, screens);
    await copyStore(data, database);
    const served = await startServed(database, token, { media: join(data, 'media') });
    await measure(`${files} files, ${screens} screens, PostgreSQL`, served, files);
    await served.stop();
    await server.stop();
  });
});
