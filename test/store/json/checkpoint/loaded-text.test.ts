import { describe, expect, it } from 'vitest';
import { documentLine } from '../../../../src/store/json/checkpoint/document-line.ts';
import { LineTable } from '../../../../src/store/json/checkpoint/line-table.ts';
import { LoadedLines } from '../../../../src/store/json/checkpoint/loaded-lines.ts';
import { CommittedRows } from '../../../../src/store/json/rows/committed-rows.ts';
import { sectionOf } from '../../../../src/store/sections.ts';

const linesOf = (...lines: readonly string[]) =>
  Buffer.from(lines.map((line) => documentLine(line)).join(''));
/** A document with one row per line. */
const documentOf = (...rows: readonly object[]) =>
  linesOf(...rows.map((row) => JSON.stringify(row)));

describe('LoadedLines', () => {
  const rows = [
    { id: 'a', items: '[1]' },
    { id: 'b', items: '["é"]' },
    { id: 'ab', items: '[]' },
  ];

  it('finds lines by their ids until they are deleted', () => {
    const lines = new LoadedLines(documentOf(...rows), '{"id":"');
    expect([...lines.ids()]).toEqual(['a', 'b', 'ab']);
    for (const row of rows) expect(JSON.parse(lines.get(row.id) ?? '')).toEqual(row);
    expect(lines.get('c')).toBeUndefined();
    expect([lines.delete('b'), lines.delete('b'), lines.delete('c')]).toEqual([true, false, false]);
    expect(lines.get('b')).toBeUndefined();
    expect([...lines.texts()]).toEqual([JSON.stringify(rows[0]), JSON.stringify(rows[2])]);
    expect([lines.delete('a'), lines.delete('ab'), lines.delete('a')]).toEqual([true, true, false]);
    expect([[...lines.texts()], lines.get('a')]).toEqual([[], undefined]);
  });

  it('finds lines by non-ASCII ids', () => {
    const lines = new LoadedLines(documentOf({ id: 'é' }, { id: 'ü', n: 1 }), '{"id":"');
    expect([lines.get('ü'), lines.get('ö')]).toEqual(['{"id":"ü","n":1}', undefined]);
  });

  it('ignores lines with another opening, and finds a last line without a line feed', () => {
    const lines = new LoadedLines(
      linesOf('["a",1]', '{"id":"b"}', '["c",2]').subarray(0, -1),
      '["',
    );
    expect([...lines.texts()]).toEqual(['["a",1]', '["c",2]']);
    expect(lines.get('b')).toBeUndefined();
  });
});

describe('LineTable', () => {
  const format = {
    opening: '["',
    parse: (line: string) => (JSON.parse(line) as [string, number])[1],
    render: (id: string, value: number) => JSON.stringify([id, value]),
  };
  const documentOfId = (id: string) => id.slice(0, 1);

  it('has the lines as loaded, then the values that were set', () => {
    const table = new LineTable(documentOfId, format);
    table.load('a', linesOf('["a1",1]', '["a2",2]', '["a3",3]'));
    table.set('a1', 10);
    table.set('a4', 4);
    table.set('b1', 5);
    expect(table.lines('a')).toEqual(['["a2",2]', '["a3",3]', '["a1",10]', '["a4",4]']);
    expect([table.lines('b'), table.lines('c')]).toEqual([['["b1",5]'], []]);
    expect([...table.ids()]).toEqual(['a2', 'a3', 'a1', 'a4', 'b1']);
    expect(['a1', 'a2', 'a5', 'c1'].map((id) => table.get(id))).toEqual([
      10,
      2,
      undefined,
      undefined,
    ]);
  });

  it('deletes lines and values', () => {
    const table = new LineTable(documentOfId, format);
    table.load('a', linesOf('["a1",1]', '["a2",2]'));
    table.set('a2', 20);
    expect(['a1', 'a2', 'a2', 'b1'].map((id) => table.delete(id))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([table.lines('a'), table.get('a1')]).toEqual([[], undefined]);
  });
});

describe('a content that was loaded as text', () => {
  const document = sectionOf('contents').document({ id: 'a' });
  const contentsIn = (base: CommittedRows) => base.lines.get('contents')!;
  const line = (row: object) => JSON.stringify(['contents', row]);

  function loaded(): CommittedRows {
    const base = new CommittedRows();
    contentsIn(base).load(document, linesOf(line({ id: 'a', items: '[1]' })));
    return base;
  }

  it('is cached and frozen after some reads', () => {
    const base = loaded();
    for (let n = 0; n < 300; n++)
      expect(base.row('contents', 'a')).toEqual({ id: 'a', items: '[1]' });
    const row = base.row('contents', 'a');
    expect(Object.isFrozen(row)).toBe(true);
    expect(base.row('contents', 'a')).toBe(row);
    expect(contentsIn(base).lines(document)).toEqual([line({ id: 'a', items: '[1]' })]);
    expect(base.row('contents', 'b')).toBeUndefined();
  });

  it('is replaced by its changes', () => {
    const base = loaded();
    base.row('contents', 'a');
    const changed = { id: 'a', items: '[2]' };
    base.load('contents', 'a', changed);
    expect(Object.isFrozen(base.row('contents', 'a'))).toBe(true);
    expect(base.row('contents', 'a')).toEqual(changed);
    expect(contentsIn(base).lines(document)).toEqual([line(changed)]);
    expect([...base.all('contents')]).toEqual(['a']);
    base.load('contents', 'a', null);
    expect([base.row('contents', 'a'), ...base.all('contents')]).toEqual([undefined]);
    expect(contentsIn(base).lines(document)).toEqual([]);
  });
});
