// Site files that name other files.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSite } from '../../../src/cli/commands/site/read-site.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { mediaReading } from '../../support/process/media-reading.ts';
import { item } from '../../support/service/content.ts';

let inside: string;
let outside: string;

async function file(path: string, content: unknown): Promise<string> {
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const read = (files: readonly string[], allowOutside = false) =>
  readSite({ ...mediaReading, io: fakeIo(), clock: systemClock }, files, { allowOutside });
const siteOf = (named: string) => ({
  version: 1,
  venues: [{ name: 'A', screens: [{ name: 'S', playlist: { file: named } }] }],
});
const itemsRead = async (files: readonly string[], allowOutside?: boolean) =>
  (await read(files, allowOutside)).venues[0]?.screens?.[0]?.playlist?.items;

describe('readSite', () => {
  const items = [item()];
  beforeEach(async () => {
    inside = await temporaryFolder();
    outside = await temporaryFolder();
    await mkdir(join(inside, 'lists'));
    for (const path of ['p.json', 'lists/p.json', '..p.json'])
      await file(join(inside, path), { items });
    await file(join(outside, 'p.json'), { items });
    await symlink(join(outside, 'p.json'), join(inside, 'link.json'));
    await symlink(outside, join(inside, 'linked'));
    await symlink(join(inside, 'p.json'), join(inside, 'lists', 'own.json'));
  });

  it.each(['p.json', './lists/../p.json', 'lists/p.json', 'lists/own.json', '..p.json'])(
    'reads the playlist file %s in the folder of the site file',
    async (named) => {
      const site = await file(join(inside, 'site.json'), siteOf(named));
      expect(await itemsRead([site])).toEqual(items);
    },
  );

  const end = { validUntil: '2099-02-28' };
  it.each<[string, unknown, number | null]>([
    ['a list of items', items, null],
    ['items and an end in ISO 8601', { items, ...end }, Date.parse('2099-02-28') / 1000],
    [
      'the output of playlist get',
      {
        id: 'p',
        tenantId: 't',
        screenId: 's',
        status: 'active',
        version: 3,
        items,
        validUntil: null,
      },
      null,
    ],
    ['an end in milliseconds', { items, validUntil: 4_000_000_000_000 }, 4_000_000_000],
    ['no end', { items, validUntil: 'none' }, null],
  ])('reads a playlist file or an inline playlist with %s', async (_, playlist, validUntil) => {
    await file(join(inside, 'given.json'), playlist);
    for (const place of [{ file: 'given.json' }, playlist]) {
      const venues = [{ name: 'A', screens: [{ name: 'S', playlist: place }] }];
      const site = await file(join(inside, 'site.json'), { version: 1, venues });
      expect((await read([site])).venues[0]?.screens[0]?.playlist).toEqual({ items, validUntil });
    }
  });

  it.each<[string, unknown, string, string]>([
    ['30 February', { items, validUntil: '2099-02-30' }, 'validUntil', 'must be a time such as'],
    ['another type', 7, 'the document', 'must be a playlist: { items: […] }, or a list of items'],
    ['items of another type', { items: {} }, 'items', 'must be an array of 1 to 500 items'],
    ['an end of another type', { items, validUntil: [] }, 'validUntil', 'must be a whole number'],
    ['an unknown member', { items, until: 1 }, 'until', 'is not a known entry'],
    ['an item of another type', [7], '[0]', 'must be an object'],
  ])('names the line of a mistake in a playlist file: %s', async (_, playlist, member, message) => {
    const given = await file(join(inside, 'given.json'), playlist);
    const site = await file(join(inside, 'site.json'), siteOf('given.json'));
    await expect(read([site])).rejects.toMatchObject({
      code: 'invalid_file',
      errors: [{ path: `${given}, line 1: ${member}`, message: expect.stringContaining(message) }],
    });
  });

  it('reads a playlist file by its absolute path, also where the folder itself is a link', async () => {
    await file(join(inside, 'site.json'), siteOf(join(inside, 'p.json')));
    const link = join(await temporaryFolder(), 'site');
    await symlink(inside, link);
    expect(await itemsRead([join(link, 'site.json')])).toEqual(items);
  });

  it.each<[how: string, named: () => string]>([
    ['..', () => `../${basename(outside)}/p.json`],
    ['an absolute path', () => join(outside, 'p.json')],
    ['a symbolic link', () => 'link.json'],
    ['a folder that is a symbolic link', () => 'linked/p.json'],
  ])('rejects a playlist file outside the folder, by %s, naming the flag', async (_, named) => {
    const site = await file(join(inside, 'site.json'), siteOf(named()));
    const message = `${basename(named())} is outside the folder of the file that names it. To read it, give --allow-outside`;
    await expect(read([site])).rejects.toMatchObject({
      code: 'invalid_file',
      errors: [
        {
          path: expect.stringMatching(/: venues\[0\]\.screens\[0\]\.playlist\.file$/),
          message: expect.stringContaining(message),
        },
      ],
    });
    expect(await itemsRead([site], true)).toEqual(items);
  });

  it('rejects a file outside the folder of one of two site files', async () => {
    const own = await file(join(outside, 'own.json'), {
      version: 1,
      playlists: { p: { file: 'p.json' } },
    });
    const other = await file(join(inside, 'site.json'), siteOf(join(outside, 'p.json')));
    await expect(read([own, other])).rejects.toMatchObject({
      errors: [{ message: expect.stringContaining('is outside the folder') }],
    });
  });

  it('reads 150 uses of an anchor, and playlists of other files', async () => {
    const uses = Array.from({ length: 150 }, (_, n) => `      - { <<: *usual, name: S${n} }\n`);
    const venues = `version: 1\nvenues:\n  - name: A\n    screens:\n      - &usual { name: First, labels: { a: b }, playlist: shared }\n${uses.join('')}`;
    const shared = { version: 1, playlists: { shared: { items } } };
    const site = await read([
      await file(join(inside, 'venues.yaml'), venues),
      await file(join(inside, 'playlists.yaml'), shared),
    ]);
    expect(site.venues[0]?.screens).toHaveLength(151);
    expect(site.venues[0]?.screens?.at(8)).toMatchObject({ name: 'S7', labels: { a: 'b' } });
    expect(site.venues[0]?.screens?.at(8)?.playlist?.items).toEqual(items);
  });
});
