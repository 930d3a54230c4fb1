import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  playlistStatusAt,
  publication,
  servedValidUntil,
} from '../../../src/domain/playlists/playlist.ts';
import type { Playlist } from '../../../src/domain/records/rows.ts';
import { item } from '../../support/service/content.ts';

const day = 24 * 60 * 60_000;
const year = 365 * day;
const publishedAt = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
const ages = fc.integer({ min: 0, max: 30 * year });

describe('servedValidUntil', () => {
  it("returns the publisher's time, whatever the current time", () => {
    fc.assert(
      fc.property(publishedAt, ages, fc.nat(), (published, age, validUntil) => {
        expect(servedValidUntil({ validUntil, publishedAt: published }, published + age)).toBe(
          validUntil,
        );
      }),
    );
  });

  it('is a multiple of 365 days after the publication, at least 180 and at most 545 days ahead', () => {
    fc.assert(
      fc.property(publishedAt, ages, (published, age) => {
        const until = servedValidUntil(
          { validUntil: null, publishedAt: published },
          published + age,
        );
        expect((until - published) % year).toBe(0);
        expect(until - published).toBeGreaterThanOrEqual(year);
        const left = until - (published + age);
        expect(left).toBeGreaterThanOrEqual(180 * day);
        expect(left).toBeLessThan(180 * day + year);
      }),
    );
  });

  it('changes only once every 365 days, and never decreases', () => {
    fc.assert(
      fc.property(
        publishedAt,
        ages,
        fc.integer({ min: 0, max: year - 1 }),
        (published, age, later) => {
          const of = (at: number) =>
            servedValidUntil({ validUntil: null, publishedAt: published }, published + at);
          expect([0, year]).toContain(of(age + later) - of(age));
        },
      ),
    );
  });

  it('changes when fewer than 180 days are left, not at 180', () => {
    const of = (at: number) => servedValidUntil({ validUntil: null, publishedAt: 0 }, at);
    expect(of(0)).toBe(year);
    expect(of(185 * day)).toBe(year);
    expect(of(185 * day + 1)).toBe(2 * year);
    expect(of(550 * day)).toBe(2 * year);
    expect(of(550 * day + 1)).toBe(3 * year);
  });

  it('works with a clock that steps back before the publication', () => {
    expect(servedValidUntil({ validUntil: null, publishedAt: 10 * year }, 0)).toBe(11 * year);
  });
});

describe('playlistStatusAt', () => {
  const row = { state: 'active', validUntil: 1000 } as Playlist;

  it('is expired from validUntil on', () => {
    expect(playlistStatusAt(row, 999)).toBe('active');
    expect(playlistStatusAt(row, 1000)).toBe('expired');
    expect(playlistStatusAt({ ...row, validUntil: null }, Number.MAX_SAFE_INTEGER)).toBe('active');
  });

  it.each(['superseded', 'withdrawn'] as const)('stays %s', (state) => {
    expect(playlistStatusAt({ ...row, state }, 2000)).toBe(state);
  });
});

describe('a publication', () => {
  const pathsOf = (value: unknown) =>
    publication.safeParse(value).error?.issues.map((issue) => issue.path.join('/')) ?? [];

  it.each([
    ['the smallest', { items: [item({ duration: 0.001 })] }],
    ['500 items', { items: Array.from({ length: 500 }, () => item()) }],
    ['null as its end', { items: [item()], validUntil: null }],
    [
      'a URL of 2,048 characters',
      { items: [item({ creativeUrl: `https://x.example/${'a'.repeat(2048 - 18)}` })] },
    ],
    ['http', { items: [item({ creativeUrl: 'http://127.0.0.1:4100/media/a.svg' })] }],
    ['a page with storage', { items: [item({ creativeType: 'html', storage: true })] }],
    ['a day', { items: [item({ duration: 86_400 })] }],
    [
      'an id of no version',
      { items: [item({ creativeId: `${'F'.repeat(8)}-FFFF-FFFF-FFFF-${'F'.repeat(12)}` })] },
    ],
  ])('may have %s', (_, value) => expect(pathsOf(value)).toEqual([]));

  it.each<[string, unknown, string[]]>([
    ['no items', { items: [] }, ['items']],
    ['501 items', { items: Array.from({ length: 501 }, () => item()) }, ['items']],
    ['no URL', { items: [item({ creativeUrl: '/a.mp4' })] }, ['items/0/creativeUrl']],
    [
      'another scheme',
      { items: [item({ creativeUrl: 'file:///etc/passwd' })] },
      ['items/0/creativeUrl'],
    ],
    [
      'a script',
      { items: [item({ creativeUrl: 'javascript:alert(1)' })] },
      ['items/0/creativeUrl'],
    ],
    [
      'a URL of 2,049 characters',
      { items: [item({ creativeUrl: `https://x.example/${'a'.repeat(2049 - 18)}` })] },
      ['items/0/creativeUrl'],
    ],
    ['another type', { items: [item({ creativeType: 'audio' })] }, ['items/0/creativeType']],
    ['no time', { items: [item({ duration: 0 })] }, ['items/0/duration']],
    ['more than a day', { items: [item({ duration: 86_400.5 })] }, ['items/0/duration']],
    [
      'an infinite time',
      { items: [item({ duration: Number.POSITIVE_INFINITY })] },
      ['items/0/duration'],
    ],
    ['an id that is none', { items: [item({ creativeId: 'x' })] }, ['items/0/creativeId']],
    ['a duration as text', { items: [item({ duration: '15' })] }, ['items/0/duration']],
    ['storage as text', { items: [item({ storage: 'yes' })] }, ['items/0/storage']],
    ['null as a duration', { items: [item({ duration: null })] }, ['items/0/duration']],
    ['a fraction as its end', { items: [item()], validUntil: 1.5 }, ['validUntil']],
    ['text as its end', { items: [item()], validUntil: '1790000000' }, ['validUntil']],
    [
      'items without members',
      { items: [{}, 5] },
      ['creativeId', 'creativeUrl', 'creativeType', 'duration']
        .map((name) => `items/0/${name}`)
        .concat('items/1'),
    ],
    ['another body', [item()], ['']],
  ])('may not have %s', (_, value, paths) => expect(pathsOf(value)).toEqual(paths));

  it.each([
    ...[' https://x.example/', 'https://x.example/ ', '\u00a0https://x.example/'],
    ...['https://x.example/a\tb', 'https://x.example/a\nb', 'https://x.example/\r'],
    ...['\u0000https://x.example/', 'https://x.example/\u007f', 'https://x.example/\u0085'],
    ...['https://tom@x.example/', 'https://tom:secret@x.example/', 'https://:secret@x.example/'],
    ...['blob:https://x.example/1', 'data:image/png;base64,AA==', 'https://', 'https://a b/'],
  ])('may not have the URL %j', (creativeUrl) => {
    const { error } = publication.safeParse({ items: [item(), item({ creativeUrl })] });
    expect(error?.issues).toMatchObject([{ path: ['items', 1, 'creativeUrl'] }]);
    expect(error?.message).not.toContain('secret');
  });

  it.each([
    ['https://x.example/a b.mp4', 'https://x.example/a%20b.mp4'],
    ['https:x.example', 'https://x.example/'],
    ['https://x.example\\a.mp4', 'https://x.example/a.mp4'],
    ['HTTPS://X.Example:443/../A.mp4', 'https://x.example/A.mp4'],
    ['https://bücher.example/ä.png?ö#ü', 'https://xn--bcher-kva.example/%C3%A4.png?%C3%B6#%C3%BC'],
    ['http://0x7f.1/a"b', 'http://127.0.0.1/a%22b'],
  ])('stores the URL %s in canonical form', (sent, stored) => {
    const { items } = publication.parse({ items: [item({ creativeUrl: sent })] });
    expect(items[0]?.creativeUrl).toBe(stored);
  });

  it('may have a URL of 2,048 characters in canonical form, and not one more', () => {
    const ofLength = (length: number) => `https://x.example/ä${'a'.repeat(length - 24)}`;
    expect(pathsOf({ items: [item({ creativeUrl: ofLength(2048) })] })).toEqual([]);
    expect(pathsOf({ items: [item({ creativeUrl: ofLength(2049) })] })).toEqual([
      'items/0/creativeUrl',
    ]);
  });

  it('accepts a URL with a non-ASCII host every time, even after Node has optimized the validation', () => {
    const content = {
      items: Array.from({ length: 100 }, () =>
        item({ creativeUrl: 'https://b\u00fccher.example/' }),
      ),
    };
    for (let times = 0; times < 200; times++)
      expect(publication.safeParse(content).success).toBe(true);
  });

  it('stores each media URL in a form that validates unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (rest) => {
        const first = publication.safeParse({
          items: [item({ creativeUrl: `https://x.example/${rest}` })],
        });
        fc.pre(first.success);
        expect(publication.parse(first.data)).toEqual(first.data);
        expect(first.data?.items[0]?.creativeUrl).toMatch(/^https?:\/\/[!-~]+$/);
      }),
    );
  });
});
