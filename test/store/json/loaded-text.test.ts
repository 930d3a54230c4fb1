import { describe, expect, it } from 'vitest';
import { ByteSlice } from '../../../src/store/json/rows/byte-slice.ts';
import { CommittedRows } from '../../../src/store/json/rows/committed-rows.ts';
import { LazyLines } from '../../../src/store/json/rows/lazy-lines.ts';
import { LazyRows } from '../../../src/store/json/rows/lazy-rows.ts';
import { playlistDocument } from '../../../src/store/json/rows/playlist-document.ts';
import { SharedIds } from '../../../src/store/json/rows/shared-ids.ts';
import { guid } from '../sample-batch.ts';

/** A document with one row per line. */
function documentOf(...rows: readonly object[]): Buffer {
  return Buffer.from(
    `{"seq":1,"rows":{\n"playlists":[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n}}\n`,
  );
}

const textsOf = (lines: LazyLines) => [...lines.texts()].map(String);

describe('ByteSlice', () => {
  it('returns the UTF-8 text between its bounds', () => {
    const bytes = Buffer.from('["é","a"]\n["ü"]');
    const texts = [new ByteSlice(bytes, 0, 10), new ByteSlice(bytes, 11, 17)];
    expect(texts.map(String)).toEqual(['["é","a"]', '["ü"]']);
    expect(texts.map((text) => text.quotedAfter('["'))).toEqual(['é', 'ü']);
    expect(texts[0]?.quotedAfter('{"id":"')).toBeUndefined();
  });
});

describe('LazyLines', () => {
  const rows = [
    { id: 'a', items: '[1]' },
    { id: 'b', items: '["é"]' },
    { id: 'ab', items: '[]' },
  ];

  it('finds lines by their ids until they are deleted', () => {
    const lines = new LazyLines(documentOf(...rows), '{"id":"');
    expect([...lines.ids()]).toEqual(['a', 'b', 'ab']);
    for (const row of rows) expect(JSON.parse(String(lines.find(row.id)))).toEqual(row);
    expect(lines.find('c')).toBeUndefined();
    expect([lines.delete('b'), lines.delete('b'), lines.delete('c')]).toEqual([true, false, false]);
    expect(lines.find('b')).toBeUndefined();
    expect(textsOf(lines)).toEqual([JSON.stringify(rows[0]), JSON.stringify(rows[2])]);
    expect([lines.delete('a'), lines.delete('ab'), lines.delete('a')]).toEqual([true, true, false]);
    expect([textsOf(lines), lines.find('a')]).toEqual([[], undefined]);
  });

  it('finds lines by non-ASCII ids', () => {
    const lines = new LazyLines(documentOf({ id: 'é' }, { id: 'ü', n: 1 }), '{"id":"');
    expect([String(lines.find('ü')), lines.find('ö')]).toEqual(['{"id":"ü","n":1}', undefined]);
  });

  it('distinguishes lines whose ids have the same hash', () => {
    // Both have the FNV-1a hash 5e4daa9d.
    const [one, other] = ['costarring', 'liquid'];
    const lines = new LazyLines(documentOf({ id: one, n: 1 }, { id: other, n: 2 }), '{"id":"');
    expect([String(lines.find(one)), String(lines.find(other))]).toEqual([
      `{"id":"${one}","n":1}`,
      `{"id":"${other}","n":2}`,
    ]);
    lines.delete(one);
    expect([lines.find(one), String(lines.find(other))]).toEqual([
      undefined,
      `{"id":"${other}","n":2}`,
    ]);
  });
});

describe('a row that was loaded as text', () => {
  it('is parsed on each read, and cached frozen from the second read on', () => {
    const base = new CommittedRows();
    base.playlists.add(playlistDocument('a'), documentOf({ id: 'a', items: '[1]' }));
    const [first, row] = [base.row('playlists', 'a'), base.row('playlists', 'a')];
    expect([first, row]).toEqual([
      { id: 'a', items: '[1]' },
      { id: 'a', items: '[1]' },
    ]);
    expect([first, row].map(Object.isFrozen)).toEqual([false, true]);
    expect(base.row('playlists', 'a')).toBe(row);
    expect(String(base.rawRow('playlists', 'a'))).toBe('{"id":"a","items":"[1]"}');
    expect(base.row('playlists', 'b')).toBeUndefined();
  });

  it('is replaced by its changes', () => {
    const base = new CommittedRows();
    base.playlists.add(playlistDocument('a'), documentOf({ id: 'a', items: '[1]' }));
    base.row('playlists', 'a');
    const changed = { id: 'a', items: '[2]' };
    base.load('playlists', 'a', changed);
    expect(Object.isFrozen(base.row('playlists', 'a'))).toBe(true);
    expect([base.row('playlists', 'a'), base.rawRow('playlists', 'a')]).toEqual([changed, changed]);
    expect([...base.all('playlists')]).toEqual(['a']);
    base.load('playlists', 'a', null);
    expect([
      base.row('playlists', 'a'),
      base.rawRow('playlists', 'a'),
      ...base.all('playlists'),
    ]).toEqual([undefined, undefined]);
  });

  it('is evicted from the cache by other rows, and parsed again', () => {
    const rows = new LazyRows(() => 'one', 2);
    rows.add('one', documentOf({ id: 'a' }, { id: 'b' }, { id: 'c' }));
    for (const id of ['a', 'b', 'c']) rows.get(id);
    const [a, b] = [rows.get('a'), rows.get('b')];
    expect(rows.get('a')).toBe(a);
    expect(rows.get('b')).toBe(b);
    rows.get('c');
    expect(rows.get('b')).toBe(b);
    expect(rows.get('a')).toEqual(a);
    expect(rows.get('a')).not.toBe(a);
    expect([...rows.ids()]).toEqual(['a', 'b', 'c']);
  });
});

describe('SharedIds', () => {
  it('leaves all values equal', () => {
    const place = { tenantId: guid('tena', 1), venueId: guid('venu', 1), labels: { floor: '1' } };
    const screen = { id: guid('scre', 1), ...place, deviceId: guid('devi', 1), name: 'Hall' };
    const device = {
      id: guid('devi', 1),
      tenantId: guid('tena', 1),
      screenId: guid('scre', 1),
      deviceId: null,
      labels: {},
    };
    const token = { id: guid('toke', 1), tenantId: null };
    const tables = {
      screens: [structuredClone(screen)],
      devices: [structuredClone(device)],
      tokens: [structuredClone(token)],
    };
    const ids = new SharedIds();
    ids.share({ ...tables, venues: undefined } as never);
    ids.clear();
    expect(tables).toEqual({ screens: [screen], devices: [device], tokens: [token] });
  });
});
