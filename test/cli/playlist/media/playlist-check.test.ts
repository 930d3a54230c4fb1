import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/domain/clock.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { item } from '../../../support/service/content.ts';
import type { TestService } from '../../../support/service/service.ts';
import { type Cli, cliOf, runCli, startCli } from '../../run-cli.ts';
import { certificateFile, files, mediaSite, respond, serveFile } from './media-site.ts';
import { checkItems } from './run-check.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const image = (url: string) => item({ creativeUrl: url, creativeType: 'image' });
const video = (url: string) => item({ creativeUrl: url, creativeType: 'video' });
const publish = (id: string, ...items: object[]) =>
  service.manage('PUT', `/v1/screens/${id}/playlist`, { items });

async function site(...names: string[]) {
  const { id: venueId, name: venue } = await service.venue();
  const screens = [];
  for (const name of names) screens.push(await service.screen({ venueId, name }));
  return { venue, venueId, screens };
}

async function fileOf(...items: object[]): Promise<string> {
  const file = `${await temporaryFolder()}/playlist.json`;
  await writeFile(file, JSON.stringify({ items }));
  return file;
}

describe('signage playlist check SCREEN', () => {
  it('9 with the finding and the name of the screen, for its current playlist', async () => {
    const media = await mediaSite(respond(404));
    const { venue, screens } = await site('Main');
    await publish(screens[0].id, image(`${media.url}/a.png`));
    const run = await cli(['playlist', 'check', `${venue}/Main`, '-o', 'json']);
    expect(run.code).toBe(9);
    expect(run.json).toEqual([
      {
        level: 'error',
        check: 'status',
        detail: 'The server answers with status 404.',
        effect: 'A TV gets no file.',
        advice: 'Correct the URL, or repair the media server.',
        screen: `${venue}/Main`,
        item: 1,
        uses: 1,
        url: `${media.url}/a.png`,
      },
    ]);
    expect(run.stderr).toContain(`1 media file checked for a player of ${service.url}: 1 error`);
  });

  it('works for a token that is bound to the venue and sees no config of the tenant', async () => {
    const media = await mediaSite(serveFile(files.hugeMp4));
    const { venueId, screens } = await site('Main');
    const [{ id }] = screens;
    await publish(id, video(`${media.url}/a.mp4`));
    const creation = { name: venueId, role: 'viewer', venueIds: [venueId] };
    const { token } = (await service.manage('POST', '/v1/tokens', creation)).body;
    const bound = cliOf(service, token);
    expect(await bound(['playlist', 'check', id])).toMatchObject({ code: 0, stdout: '' });
    const config = { cachePolicy: { maxSizeGB: 1 } };
    await service.manage('PUT', `/v1/venues/${venueId}/config`, config);
    const run = await bound(['playlist', 'check', id, '-o', 'json']);
    expect(run.json).toMatchObject([{ check: 'size', item: 1 }]);
  });

  it('checks each file once for all screens of a venue, and skips those without', async () => {
    const media = await mediaSite((request, response) =>
      (request.url === '/bad.png' ? respond(500) : serveFile(files.png))(request, response),
    );
    const { venue, screens } = await site('One', 'Two', 'Three');
    const items = [image(`${media.url}/good.png`), image(`${media.url}/bad.png`)];
    await publish(screens[0].id, ...items, ...items);
    await publish(screens[1].id, ...items);
    const run = await cli(['playlist', 'check', '--venue', venue, '-o', 'json']);
    expect(run.code).toBe(9);
    expect(run.json).toHaveLength(1);
    expect(run.stderr).toContain('1 screen without a playlist left out.');
    expect(run.json[0]).toMatchObject({ item: 2, uses: 3, screen: expect.stringContaining(venue) });
    expect(media.requests.toSorted()).toEqual(['GET /bad.png', 'GET /good.png']);
  });

  it('checks --all screens', async () => {
    const media = await mediaSite(respond(404));
    const { screens } = await site('Main');
    await publish(screens[0].id, image(`${media.url}/only-here.png`));
    const run = await cli(['playlist', 'check', '--all', '--timeout', '1s', '-o', 'json']);
    expect(run.json.map(({ url }: { url: string }) => url)).toContain(`${media.url}/only-here.png`);
  });

  it('finds files that exceed cachePolicy.maxSizeGB of the config, alone or together', async () => {
    const media = await mediaSite(serveFile(files.hugeMp4));
    const { venue, venueId, screens } = await site('Default', 'Large');
    for (const { id } of screens)
      await publish(id, video(`${media.url}/a.mp4`), video(`${media.url}/b.mp4`));
    const check = (name: string) => cli(['playlist', 'check', `${venue}/${name}`, '-o', 'json']);
    const sizes = ({ json }: Awaited<ReturnType<typeof check>>) =>
      json.map(({ check, item, detail }: Record<string, unknown>) => [check, item, detail]);
    const alone = 'The file has 11.0 GB, and cachePolicy.maxSizeGB is 10.';
    expect(sizes(await check('Default'))).toEqual([
      ['size', 1, alone],
      ['size', 2, alone],
    ]);
    const config = { cachePolicy: { maxSizeGB: 20 } };
    await service.manage('PUT', `/v1/venues/${venueId}/config`, config);
    const together = 'The files have 22.0 GB together, and cachePolicy.maxSizeGB is 20.';
    expect(sizes(await check('Large'))).toEqual([['size', null, together]]);
    const larger = { cachePolicy: { maxSizeGB: 30 } };
    await service.manage('PUT', `/v1/screens/${screens[1].id}/config`, larger);
    expect(await check('Large')).toMatchObject({ code: 0, stdout: '[]\n' });
  });
});

describe('signage playlist check --file', () => {
  it('checks the file for the config of a screen that is named, too', async () => {
    const media = await mediaSite(serveFile(files.hugeMp4));
    const { venue } = await site('Main');
    const file = await fileOf(video(`${media.url}/a.mp4`));
    const run = await cli(['playlist', 'check', `${venue}/Main`, '-f', file, '-o', 'json']);
    expect(run.json).toMatchObject([{ check: 'size', screen: null, item: 1 }]);
  });

  it('6 for a file that is not a playlist, before any request', async () => {
    const media = await mediaSite(serveFile(files.png));
    const file = await fileOf(image(`${media.url}/a.png`), { creativeUrl: '{media}/b.png' });
    const { code, stderr } = await runCli(['playlist', 'check', '-f', file]);
    expect(code).toBe(6);
    expect(stderr).toContain('replace {media} by the URL of your media folder');
    expect(media.requests).toEqual([]);
  });

  it('needs no service and no token, and hides queries and keys of the path in each format', async () => {
    const media = await mediaSite(respond(302, { location: '/mak_abc123/b?Signature=geheim' }));
    const url = `${media.url}/dak_abc123/a.png?X-Amz-Signature=geheim`;
    const file = await fileOf(image(url));
    for (const format of ['table', 'wide', 'json', 'ndjson', 'csv', 'yaml', 'name']) {
      const run = await runCli(['playlist', 'check', '-f', file, '--verbose', '-o', format]);
      expect(run.code).toBe(9);
      expect(run.stdout).toContain(media.url);
      expect(run.stdout + run.stderr).not.toMatch(/geheim|abc123/);
    }
  });

  it.each([80, 60])('shows marked lines that fit a terminal of %i columns', async (columns) => {
    const media = await mediaSite(respond(404));
    const url = `${media.url}/a-file-with-a-very-long-name-that-does-not-fit-the-terminal.png`;
    const file = await fileOf(image(url), image(url));
    const env = { NO_COLOR: '1' };
    const { stdout } = await runCli(['playlist', 'check', '-f', file], { tty: true, columns, env });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^✗ item 1 \(used 2 times\): status: The server/);
    expect(lines.at(-1)).toBe(`    ${url}`);
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it('shows its progress at a terminal, and escapes what servers send', async () => {
    const media = await mediaSite(
      respond(200, { 'content-type': 'text/\x9b2J', 'content-length': '4' }, 'abcd'),
    );
    const file = await fileOf(item({ creativeUrl: media.url, creativeType: 'html' }));
    const run = await runCli(['playlist', 'check', '-f', file], { tty: true });
    expect(run.stderr).toContain('Checking [');
    expect(run.stdout).toContain('\\u009b2j');
    expect(run.stdout).not.toContain('\x9b');
  });

  it('130 at once when interrupted, with eight requests in flight and no result', async () => {
    const media = await mediaSite(() => {});
    const items = Array.from({ length: 20 }, (_, at) => ({ url: `${media.url}/${at}.png` }));
    const run = await checkItems(items, [], {
      async during(io) {
        await expect.poll(() => media.requests.length).toBe(8);
        io.signal('SIGINT');
      },
    });
    expect(run).toMatchObject({ code: 130, stdout: '' });
    expect(media.requests).toHaveLength(8);
  });

  it('closes the connection of an endless stream', async () => {
    let sentBytes = 0;
    const media = await mediaSite((_, response) => {
      const flood = () => {
        for (; !response.destroyed && response.write(Buffer.alloc(65_536)); sentBytes += 65_536);
      };
      response.writeHead(200, { 'content-type': 'image/gif' }).write('GIF89a');
      response.on('drain', flood);
      flood();
    });
    expect((await checkItems([{ url: media.url }])).named).toContain('warning length');
    // The buffers of the system take some more.
    expect(sentBytes).toBeLessThan(20_000_000);
  });

  it('sends no credentials to media servers', async () => {
    const sent: string[] = [];
    const media = await mediaSite((request, response) => {
      sent.push(JSON.stringify(request.headers));
      serveFile(files.mp4)(request, response);
    });
    const { screens } = await site('Main');
    await publish(screens[0].id, video(media.url));
    expect(await cli(['playlist', 'check', screens[0].id])).toMatchObject({ code: 0 });
    expect(sent.length).toBeGreaterThan(3);
    expect(sent.join('')).not.toMatch(/authorization|mak_/i);
  });
});

describe('signage playlist publish --check', () => {
  const currentOf = async (id: string) =>
    (await service.manage('GET', `/v1/screens/${id}/playlist`)).status;

  it('9 and publishes nothing when a file has an error, also with --dry-run; says how to publish', async () => {
    const media = await mediaSite(respond(404));
    const { screens } = await site('Main');
    const file = await fileOf(image(media.url));
    const argv = ['playlist', 'publish', screens[0].id, '-f', file];
    const run = await cli([...argv, '--check', '-o', 'ndjson']);
    expect(run.code).toBe(9);
    expect(run.ndjson).toMatchObject([{ level: 'error', check: 'status', item: 1 }]);
    expect(run.stderr).toContain('Nothing was published');
    expect(run.stderr).toContain('To publish anyway, give --force instead of --check.');
    expect(await cli([...argv, '--check', '--dry-run'])).toMatchObject({ code: 9 });
    expect(media.requests).toHaveLength(2);
    expect(await currentOf(screens[0].id)).toBe(404);
    expect(await cli([...argv, '--force'])).toMatchObject({ code: 0 });
    expect(await currentOf(screens[0].id)).toBe(200);
  });

  it('publishes in spite of warnings, which it prints to stderr', async () => {
    const headers = { 'access-control-allow-origin': undefined };
    const media = await mediaSite(serveFile(files.png, { headers }));
    const { screens } = await site('Main');
    const file = await fileOf(image(`${media.url}/a.png`));
    const argv = ['playlist', 'publish', screens[0].id, '-f', file, '--check', '-o', 'json'];
    const run = await cli(argv);
    expect(run).toMatchObject({ code: 0, json: { version: 1 } });
    expect(run.stderr).toMatch(/Warning: item 1: cors: The response of .*a\.png has no/);
  });

  it('publishes no stage and leaves no state file when a file has an error', async () => {
    const media = await mediaSite(respond(404));
    const { venue, screens } = await site('One', 'Two');
    const file = await fileOf(image(media.url));
    const state = `${await temporaryFolder()}/state.json`;
    const staged = ['--staged', '50%,100%', '--hold', '1s', '--state', state];
    const argv = ['playlist', 'publish', '--venue', venue, '-f', file, '--check', ...staged];
    expect(await cli(argv)).toMatchObject({ code: 9 });
    for (const { id } of screens) expect(await currentOf(id)).toBe(404);
    await expect(writeFile(state, '', { flag: 'wx' })).resolves.toBeUndefined();
  });

  it('checks for the player at --origin, which needs --check', async () => {
    const headers = { 'content-security-policy': 'frame-ancestors https://localhost' };
    const media = await mediaSite(serveFile(files.html, { headers }), 'first');
    const { screens } = await site('Main');
    const file = await fileOf(item({ creativeUrl: media.url, creativeType: 'html' }));
    const env = { SIGNAGE_CA_FILE: certificateFile('first') };
    const argv = ['playlist', 'publish', screens[0].id, '-f', file];
    expect(await cli([...argv, '--check'], { env })).toMatchObject({ code: 9 });
    const origin = ['--origin', 'https://localhost'];
    expect(await cli([...argv, ...origin], { env })).toMatchObject({ code: 2 });
    expect(await currentOf(screens[0].id)).toBe(404);
    expect(await cli([...argv, '--check', ...origin], { env })).toMatchObject({ code: 0 });
  });
});
