import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { endProcesses, startProcess } from '../support/process/signage-process.ts';
import { startService } from '../support/service/service.ts';

afterAll(endProcesses);

const itemsOf = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../../fixtures/playlists/${name}.json`, import.meta.url), 'utf8'),
  ).items;
const settings = (url: string | undefined, token: string) => ({
  onDemand: `${url}/playlists/{screenId}?venue={venueId}`,
  onDemandToken: token,
  onDemandTtlSeconds: 0,
});

it('fixtures/on-demand-source is a source that a service can be started with', async () => {
  const env = { SOURCE_TOKEN: 'example-token' };
  const source = startProcess(['fixtures/on-demand-source/server.js', '0'], { env });
  const [url] = await source.until(/http:\/\/127\.0\.0\.1:\d+/);
  const service = await startService(settings(url, 'example-token'));
  const tv = await service.tv();
  const answer = await tv.send('GET', 'playlist');
  expect(answer.headers.get('x-source')).toBe('on-demand');
  expect([itemsOf('retail'), itemsOf('transit')]).toContainEqual(answer.body.items);
  expect((await tv.send('GET', 'playlist')).body.version).toBe(1);

  const closing = startProcess(['fixtures/on-demand-source/server.js', '0', tv.venueId], { env });
  const [closedUrl] = await closing.until(/http:\/\/127\.0\.0\.1:\d+/);
  const closed = await startService(settings(closedUrl, 'example-token'));
  const other = await closed.tv();
  expect((await other.send('GET', 'playlist')).status).toBe(200);

  const stranger = await startService(settings(url, 'another-token'));
  expect((await (await stranger.tv()).send('GET', 'playlist')).body.code).toBe(
    'playlist_fetch_failed',
  );
});
