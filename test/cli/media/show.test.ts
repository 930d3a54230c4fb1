import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProxy } from '../../support/network/intervening-proxy.ts';
import { item, manager } from '../../support/service/management.ts';
import { someFile } from '../../support/service/media.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, cliOf } from '../run-cli.ts';
import { makeVideo } from './make-video.ts';

let service: TestService;
let cli: Cli;
let folder: string;
beforeAll(async () => {
  service = await startService();
  cli = cliOf(service, adminToken);
  folder = await temporaryFolder();
});

/** Returns the names and durations of the items of a screen. */
async function shown(screenId: string): Promise<[name: string, duration: number][]> {
  const { body } = await manager(service).get(`/v1/screens/${screenId}/playlist`);
  return body.items.map(({ name, duration }: { name: string; duration: number }) => [
    name,
    duration,
  ]);
}

it('shows the files of a folder in the order of their numbers, without hidden and other files', async () => {
  const { id } = await service.screen();
  const summer = join(folder, 'summer');
  await mkdir(join(summer, 'more'), { recursive: true });
  for (const name of ['10.svg', '2.svg', '.hidden.svg'])
    await writeFile(join(summer, name), someFile(name.length));
  await writeFile(join(summer, 'notes.txt'), 'Buy milk.');
  const { code, stderr } = await cli(['show', id, summer, '--duration', '15s']);
  expect(code, stderr).toBe(0);
  expect(await shown(id)).toEqual([
    ['2.svg', 15],
    ['10.svg', 15],
  ]);
  expect(stderr).toContain(`Left out: ${join(summer, 'notes.txt')}`);
});

it('plays a video for its own length, and appends it with --add', async () => {
  const { id } = await service.screen();
  const [picture, video] = [join(folder, 'a.svg'), join(folder, 'b.mp4')];
  await writeFile(picture, someFile(1));
  await writeFile(video, await makeVideo('avc'));
  const end = '2099-12-24T00:00:00Z';
  expect((await cli(['show', id, picture, '--valid-until', end])).code).toBe(0);
  expect((await cli(['show', id, video, '--add'])).code).toBe(0);
  const { body } = await manager(service).get(`/v1/screens/${id}/playlist`);
  expect(body.validUntil, 'the end stays').toBe(Date.parse(end) / 1000);
  expect(await shown(id)).toEqual([
    ['a.svg', 10],
    ['b.mp4', 2.5],
  ]);
});

it('2 for a video without a length, and nothing is published', async () => {
  const { id } = await service.screen();
  const video = join(folder, 'live.mp4');
  await writeFile(video, await makeVideo('avc', { isFragmented: true }));
  const { code, stderr } = await cli(['show', id, video]);
  expect(code).toBe(2);
  expect(stderr).toContain('give --duration');
  expect((await manager(service).get(`/v1/screens/${id}/playlist`)).status).toBe(404);
});

it('--add overwrites nothing that somebody else publishes meanwhile', async () => {
  const { id } = await service.screen();
  const picture = join(folder, 'c.svg');
  await writeFile(picture, someFile(2));
  expect((await cli(['show', id, picture])).code).toBe(0);
  const proxy = await startProxy(service.url, {
    async before(request) {
      if (request.startsWith('PUT /v1/screens/'))
        await manager(service).put(`/v1/screens/${id}/playlist`, { items: [item()] });
    },
  });
  const { code, stderr } = await cliOf(proxy, adminToken)(['show', id, picture, '--add']);
  expect(code, stderr).toBe(5);
  expect((await manager(service).get(`/v1/screens/${id}/playlist`)).body).toMatchObject({
    version: 2,
    items: [item()],
  });
});
