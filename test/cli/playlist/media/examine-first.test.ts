// URLs are examined before they are put on a wall.
import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/domain/clock.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { item } from '../../../support/service/content.ts';
import type { TestService } from '../../../support/service/service.ts';
import { type Cli, startCli } from '../../run-cli.ts';
import { files, mediaSite, serveFile } from './media-site.ts';

let cli: Cli;
let service: TestService<Clock>;
let folder: string;

beforeAll(async () => {
  ({ cli, service } = await startCli());
  folder = await temporaryFolder();
});

const ends =
  (status: number): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end();
const page = (headers: Record<string, string>) => serveFile(files.html, { headers });

type Wall = { id: string; url: string; type?: string };
const fileWith = async (content: object) => {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  await writeFile(path, JSON.stringify(content));
  return path;
};
const itemsOf = ({ url, type = 'image' }: Wall) => [
  item({ creativeUrl: url, creativeType: type, duration: 10 }),
];
const entryOf = (wall: Wall) => {
  const now = Math.floor(service.clock.now() / 1000);
  return { name: 'Lunch', at: now - 60, until: now + 3600, items: itemsOf(wall) };
};
/** The commands that put something on a wall. */
const commands: readonly [string, (wall: Wall) => Promise<string>, string, string?][] = [
  [
    'takeover set',
    async (wall) => `takeover set ${wall.id} ${await fileWith({ items: itemsOf(wall) })} --for 1h`,
    'takeover',
  ],
  [
    'schedule set',
    async (wall) => `schedule set ${wall.id} -f ${await fileWith({ entries: [entryOf(wall)] })}`,
    'schedule',
  ],
  [
    'playlist publish',
    async (wall) => `playlist publish ${wall.id} -f ${await fileWith({ items: itemsOf(wall) })}`,
    'playlist',
  ],
  [
    'apply',
    async (wall) => {
      const { name, venueId } = (await service.manage('GET', `/v1/screens/${wall.id}`)).body;
      const venue = (await service.manage('GET', `/v1/venues/${venueId}`)).body.name;
      const screens = [{ name, playlist: { items: itemsOf(wall) } }];
      return `apply -f ${await fileWith({ version: 1, venues: [{ name: venue, screens }] })}`;
    },
    'playlist',
    '--unexamined',
  ],
];
const isSet = async (id: string, what: string) =>
  (await service.manage('GET', `/v1/screens/${id}/${what}`)).status === 200;

describe.each(commands)('signage %s', (_, lineOf, what, force = '--force') => {
  it.each([
    ['answers 404', ends(404), 'image', 'The server answers with status 404.'],
    ['answers 500', ends(500), 'html', 'The server answers with status 500.'],
    [
      'forbids frames',
      page({ 'content-security-policy': "frame-ancestors 'none'" }),
      'html',
      'The page forbids frames',
    ],
    ['forbids frames in the old way', page({ 'x-frame-options': 'DENY' }), 'html', 'forbids'],
    ['is a page instead of a picture', serveFile(files.html), 'image', 'is of the type image'],
  ])('refuses a URL that %s, and a flag puts it there', async (_, answer, type, text) => {
    const site = await mediaSite(answer);
    const { id } = await service.screen();
    const line = await lineOf({ id, url: `${site.url}/a?key=secret`, type });
    const refused = await cli(line);
    expect(refused.code, refused.stderr).toBe(6);
    expect(refused.stderr).toContain(text);
    expect(refused.stderr).toContain(force);
    expect(refused.stderr).not.toContain('secret');
    expect(await isSet(id, what)).toBe(false);
    const asked = site.requests.length;
    expect((await cli(`${line} ${force}`)).code).toBe(0);
    expect(await isSet(id, what)).toBe(true);
    expect(site.requests).toHaveLength(asked);
  });

  it('accepts a good URL without a word, and asks once for each', async () => {
    const site = await mediaSite(serveFile(files.png));
    const { id } = await service.screen();
    const run = await cli(await lineOf({ id, url: `${site.url}/a.png` }));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).not.toContain('Warning');
    expect(site.requests).toEqual(['GET /a.png']);
  });

  it('only warns of a host that this machine cannot reach', async () => {
    const { id } = await service.screen();
    const run = await cli(await lineOf({ id, url: 'http://127.0.0.1:1/a.png' }));
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('Warning: The media of 127.0.0.1:1 were not examined.');
    expect(await isSet(id, what)).toBe(true);
  });
});

it('an examination takes at most 3 seconds', async () => {
  const site = await mediaSite(() => {});
  const { id } = await service.screen();
  const items = Array.from({ length: 20 }, (_, at) => itemsOf({ id, url: `${site.url}/${at}` })[0]);
  const line = `takeover set ${id} ${await fileWith({ items })} --for 1h`;
  const startedAtMs = performance.now();
  const run = await cli(line);
  expect(performance.now() - startedAtMs).toBeLessThan(4500);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toContain('20 of 20 URLs could not be examined in 3 seconds.');
});
