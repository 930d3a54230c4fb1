// Files are examined before they are uploaded or put on a wall.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { mediaFixture } from '../../support/service/media-fixtures.ts';
import type { TestService } from '../../support/service/service.ts';
import { files, mediaSite, serveFile } from '../playlist/media/media-site.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let folder: string;
const path = (name: string) => join(folder, name);

const fixtures = new URL('../../fixtures/media/', import.meta.url);
beforeAll(async () => {
  ({ cli, service } = await startCli());
  folder = await temporaryFolder();
  await writeFile(path('cut.jpg'), mediaFixture('pictures/baseline.jpg').subarray(0, 1000));
  for (const name of ['pictures/orientation-6.jpg', 'videos/rotated.mp4', 'videos/sound.webm'])
    await copyFile(fileURLToPath(new URL(name, fixtures)), path(name.split('/').at(-1) ?? ''));
  await writeFile(path('menu.pdf'), '%PDF-1.7\n');
  await writeFile(path('list.yaml'), '- file: cut.jpg\n- file: orientation-6.jpg\n');
  await writeFile(
    path('week.yaml'),
    'entries:\n  - { name: Lunch, from: "11:00", to: "14:00", items: [{ file: cut.jpg }] }\n',
  );
});

/** The commands that put a cut file on a wall. */
const commands: readonly [string, (id: string) => string, string?][] = [
  ['media add', () => `media add ${path('cut.jpg')}`],
  ['show', (id) => `show ${id} ${path('cut.jpg')}`],
  ['playlist publish', (id) => `playlist publish ${id} -f ${path('list.yaml')}`],
  ['takeover set', (id) => `takeover set ${id} ${path('cut.jpg')} --for 1h`],
  ['schedule set', (id) => `schedule set ${id} -f ${path('week.yaml')}`],
];

describe('a file that is cut', () => {
  it.each(commands)('is refused by %s, and taken with --force', async (_, lineOf) => {
    const { id, venueId } = await service.screen();
    await service.manage('PATCH', `/v1/venues/${venueId}`, { timezone: 'Europe/Berlin' });
    const before = (await service.manage('GET', '/v1/media')).body.items.length;
    const refused = await cli(lineOf(id));
    expect(refused.code, refused.stderr).toBe(6);
    expect(refused.stderr).toContain('cut.jpg');
    expect(refused.stderr).toContain('The file is cut: it ends early, after 1,000 bytes.');
    expect(refused.stderr).toContain('--force');
    expect((await service.manage('GET', '/v1/media')).body.items).toHaveLength(before);
    const forced = await cli(`${lineOf(id)} --force`);
    expect(forced.code, forced.stderr).toBe(0);
    expect(forced.stderr).toContain('Warning: ');
    expect(forced.stderr).toContain('The file is cut');
  });

  it('is an error of playlist check, beside the warnings about other files', async () => {
    const { code, stdout } = await cli(`playlist check -f ${path('list.yaml')} -o json`);
    const named = JSON.parse(stdout).map(
      ({ level, check, item }: Record<string, unknown>) => `${item} ${level} ${check}`,
    );
    expect([code, named]).toEqual([9, ['1 error truncated', '2 warning orientation']]);
  });

  it('is an error of schedule check', async () => {
    const { code, stdout } = await cli(`schedule check -f ${path('week.yaml')} -o json`);
    const [first] = JSON.parse(stdout);
    expect(code).toBe(9);
    expect(first).toMatchObject({ level: 'error', entry: 'Lunch', problem: 'media' });
    expect(first.detail).toContain('cut.jpg: The file is cut');
  });

  it('is left out of a folder', async () => {
    await mkdir(path('summer'));
    await copyFile(path('cut.jpg'), path('summer/a.jpg'));
    await writeFile(path('summer/b.jpg'), files.jpeg.start);
    const { id } = await service.screen();
    const { code, stderr } = await cli(`show ${id} ${path('summer')}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Left out: ')]);
  });
});

describe('a file that some TVs do not show', () => {
  it('is warned of by show, with the command that mends it', async () => {
    const { id } = await service.screen();
    const { code, stderr } = await cli(
      `show ${id} ${path('orientation-6.jpg')} ${path('rotated.mp4')}`,
    );
    expect(code, stderr).toBe(0);
    const picture = path('orientation-6');
    expect(stderr).toContain(`magick ${picture}.jpg -auto-orient ${picture}-new.jpg`);
    expect(stderr).toContain(`ffmpeg -i ${path('rotated.mp4')} -c:v libx264`);
  });

  it.each([
    ['sound.webm', 'sound, but no picture'],
    ['menu.pdf', 'pdftoppm -jpeg -r 150'],
  ])('%s is refused with the way to mend it', async (name, text) => {
    const { code, stderr } = await cli(`media add ${path(name)}`);
    expect(code).toBe(6);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(text);
    expect(stderr).toContain(path(name));
  });
});

describe('a file on another server', () => {
  const cut = { ...files.jpeg, start: files.jpeg.start.subarray(0, 1000), size: 1000 };
  const rotated = mediaFixture('videos/rotated.mp4');

  it('that is cut is refused, and named by doctor and schedule check', async () => {
    const site = await mediaSite(serveFile(cut));
    const { id } = await service.screen();
    const refused = await cli(`show ${id} ${site.url}/a.jpg`);
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('The file is cut')]);
    expect((await cli(`show ${id} ${site.url}/a.jpg --force`)).code).toBe(0);
    const found = JSON.parse((await cli(`doctor ${id} -o json`)).stdout);
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'media',
        detail: expect.stringContaining('The file is cut'),
      }),
    );
    const items = [
      {
        creativeId: crypto.randomUUID(),
        creativeUrl: `${site.url}/a.jpg`,
        creativeType: 'image',
        duration: 5,
      },
    ];
    await writeFile(path('urls.json'), JSON.stringify({ entries: [{ name: 'Day', items }] }));
    const checked = await cli(`schedule check -f ${path('urls.json')} -o json`);
    expect(checked.stdout).toContain('The file is cut');
  });

  it('that is larger than the first answer is examined by ranges', async () => {
    const comment = Buffer.concat([Buffer.from('fffeffff', 'hex'), Buffer.alloc(65_533, 7)]);
    const { start } = files.jpeg;
    const parts = [start.subarray(0, 2), comment, comment, start.subarray(2, 1000)];
    const long = Buffer.concat(parts);
    const site = await mediaSite(serveFile({ start: long, size: long.length, type: 'image/jpeg' }));
    const { id } = await service.screen();
    expect((await cli(`show ${id} ${site.url}/a.jpg`)).stderr).toContain('The file is cut');
  });

  it('that some TVs do not show is warned of', async () => {
    const site = await mediaSite(
      serveFile({ start: rotated, size: rotated.length, type: 'video/mp4' }),
    );
    const { id } = await service.screen();
    const { code, stderr } = await cli(`show ${id} ${site.url}/a.mp4`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('to be turned by 270 degrees')]);
  });
});

it('the servers of a takeover have 3 seconds in all', async () => {
  const site = await mediaSite(() => {});
  const { id } = await service.screen();
  const startedAtMs = performance.now();
  const { code } = await cli(`takeover set ${id} ${site.url}/a ${site.url}/b --for 1h`);
  expect(code).toBe(0);
  expect(performance.now() - startedAtMs).toBeLessThan(5500);
}, 20_000);
