// Warnings about TVs whose browser isolates no web pages, from the reports of the web player.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/domain/clock.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { item } from '../../../support/service/content.ts';
import type { BoundTv, TestService } from '../../../support/service/service.ts';
import { type Cli, startCli } from '../../run-cli.ts';
import { files, mediaSite, serveFile } from './media-site.ts';

let cli: Cli;
let service: TestService<Clock>;
let venue: { id: string; name: string };
let page: object;
let image: object;

async function report(tv: BoundTv, isolatesPages: boolean): Promise<void> {
  const body = [{ type: 'player_report', timestamp: 1_760_000_000, isolatesPages }];
  expect((await tv.send('POST', 'events', { body })).status).toBe(202);
}

/** Creates a screen with this playlist and a TV that reports this at its starts. */
async function makeTv(name: string, items: object[], ...isolation: boolean[]): Promise<BoundTv> {
  const { id } = await service.screen({ venueId: venue.id, name });
  await service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
  const tv = await service.tv(id);
  for (const isolatesPages of isolation) await report(tv, isolatesPages);
  return tv;
}

beforeAll(async () => {
  ({ cli, service } = await startCli());
  venue = await service.venue();
  const pages = await mediaSite(serveFile(files.html));
  const images = await mediaSite(serveFile(files.png));
  page = item({ creativeUrl: pages.url, creativeType: 'html' });
  image = item({ creativeUrl: images.url, creativeType: 'image' });
  await makeTv('Old', [image, page], false);
  await makeTv('Updated', [page], false, true);
  await makeTv('Unknown', [page]);
  await makeTv('Images', [image], false);
  const gone = await makeTv('Replaced', [page], false);
  await service.manage('POST', `/v1/devices/${gone.deviceId}/revoke`, {});
  await report(await service.tv(gone.screenId), true);
  await service.screen({ venueId: venue.id, name: 'Empty' });
});

describe('signage playlist check', () => {
  it('names the TVs that report at their start that web pages are not isolated', async () => {
    const run = await cli(['playlist', 'check', '--venue', venue.name, '-o', 'json']);
    expect(run.code).toBe(0);
    expect(run.json).toEqual([
      {
        level: 'warning',
        check: 'isolation',
        detail: 'The browser of the TV does not isolate web pages.',
        effect: 'A loop in a page freezes the TV until its player is restarted.',
        advice: 'Show only pages that you trust, or use a newer browser. See docs/web-player.md.',
        screen: `${venue.name}/Old`,
        item: null,
        uses: 1,
        url: null,
      },
    ]);
  });

  it.each([
    ['pages', () => [page], ['Old', 'Images']],
    ['no page', () => [image], []],
  ])('names the TVs that a file with %s concerns', async (_, items, names) => {
    const file = `${await temporaryFolder()}/playlist.json`;
    await writeFile(file, JSON.stringify({ items: items() }));
    const argv = ['playlist', 'check', '-f', file];
    const run = await cli([...argv, '--venue', venue.name, '-o', 'json']);
    const screens = run.json.map(({ screen }: { screen: string }) => screen);
    expect(screens).toEqual(names.map((name) => `${venue.name}/${name}`));
    expect(await cli([...argv, '-o', 'json'])).toMatchObject({ code: 0, json: [] });
  });

  it('does so for playlist publish --check, too', async () => {
    const file = `${await temporaryFolder()}/playlist.json`;
    await writeFile(file, JSON.stringify({ items: [page] }));
    const argv = ['playlist', 'publish', `${venue.name}/Old`, '-f', file, '--check'];
    const run = await cli(argv);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`Warning: ${venue.name}/Old, playlist: isolation: The browser of`);
  });
});
