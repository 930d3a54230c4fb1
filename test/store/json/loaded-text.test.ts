import { describe, expect, it } from 'vitest';
import { JsonText, lineBounds } from '../../../src/store/json/json-text.ts';
import { Base } from '../../../src/store/json/layer.ts';
import { ReportSums } from '../../../src/store/json/report-sums.ts';
import { ParsedRows, RowText } from '../../../src/store/json/row-text.ts';
import { SharedIds } from '../../../src/store/json/shared-ids.ts';
import { guid } from '../sample-batch.ts';

function textOf(row: object): RowText {
  const bytes = Buffer.from(`xx${JSON.stringify(row)},`);
  return new RowText(bytes, 2, bytes.length - 1);
}

describe('text of a document', () => {
  it('is what stands between its bounds, in UTF-8', () => {
    const bytes = Buffer.from('\n["é","a"]\n\n["ü"]');
    const texts = [...lineBounds(bytes)].map((bounds) => new JsonText(bytes, ...bounds));
    expect(texts.map(String)).toEqual(['["é","a"]', '["ü"]']);
    expect(texts.map((text) => text.quotedAfter('["'))).toEqual(['é', 'ü']);
    expect(texts[0]?.quotedAfter('{"id":"')).toBeUndefined();
    expect([...lineBounds(Buffer.from('["a"]\n'))]).toEqual([[0, 5]]);
  });
});

describe('a row that was loaded as text', () => {
  it('is parsed when it is read, frozen, and the same as long as it is kept', () => {
    const base = new Base();
    base.load('playlists', 'a', textOf({ id: 'a', items: '[1]' }));
    const row = base.row('playlists', 'a');
    expect(row).toEqual({ id: 'a', items: '[1]' });
    expect(Object.isFrozen(row)).toBe(true);
    expect(base.row('playlists', 'a')).toBe(row);
    expect(String(base.held('playlists', 'a'))).toBe('{"id":"a","items":"[1]"}');
  });

  it('is forgotten as a row when others were read since, and read again from its text', () => {
    const rows = new ParsedRows(2);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => textOf({ id })) as [RowText, RowText, RowText];
    const first = rows.rowOf(a);
    expect([rows.rowOf(b), rows.rowOf(a)]).toEqual([{ id: 'b' }, first]);
    rows.rowOf(c);
    expect([a.row, b.row, c.row]).toEqual([undefined, { id: 'b' }, { id: 'c' }]);
    expect(rows.rowOf(a)).toEqual(first);
    expect(b.row).toBeUndefined();
  });
});

describe('ids that rows share', () => {
  it('stay what they are, with all else', () => {
    const screen = { id: guid('scre', 1), tenantId: guid('tena', 1), venueId: guid('venu', 1), deviceId: guid('devi', 1), name: 'Hall' };
    const device = { id: guid('devi', 1), tenantId: guid('tena', 1), screenId: guid('scre', 1), deviceId: null };
    const token = { id: guid('toke', 1), tenantId: null };
    const tables = { screens: [structuredClone(screen)], devices: [structuredClone(device)], tokens: [structuredClone(token)] };
    const ids = new SharedIds();
    ids.share({ ...tables, venues: undefined } as never);
    ids.clear();
    expect(tables).toEqual({ screens: [screen], devices: [device], tokens: [token] });
  });
});

describe('the sums of a report', () => {
  it('are the same in whatever order keys come', () => {
    const sums = new ReportSums();
    const documents = [['b', 'd'], ['a', 'b', 'c', 'd'], ['c'], ['e', 'a']];
    for (const keys of documents) {
      sums.rewind();
      for (const key of keys) sums.add(key, { impressions: 1, seconds: 2 });
    }
    expect(sums.rows()).toEqual([
      { key: 'a', impressions: 2, seconds: 4 },
      { key: 'b', impressions: 2, seconds: 4 },
      { key: 'c', impressions: 2, seconds: 4 },
      { key: 'd', impressions: 2, seconds: 4 },
      { key: 'e', impressions: 1, seconds: 2 },
    ]);
  });
});
