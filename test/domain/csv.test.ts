import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine, originalText } from '../../src/domain/csv.ts';

/** Returns the cells of one line as an RFC 4180 reader parses them. */
function read(line: string): string[] {
  const cells = [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(?:,|\r\n$)/g)];
  return cells.map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '');
}

describe('a line of CSV', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+49 30 1234', "'+49 30 1234"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['a=1', 'a=1'],
    ["'=1", "''=1"],
    ["'a", "'a"],
    ['', ''],
  ])('writes %j as %j', (text, cell) => expect(csvLine([text])).toBe(`${cell}\r\n`));

  it('writes numbers unchanged', () =>
    expect(csvLine([-5, 0, 1.5, -0.25])).toBe('-5,0,1.5,-0.25\r\n'));

  it.each([
    [{ separator: ';' }, 'a,b;"c;d";1.5;-0.25\r\n'],
    [{ separator: '\t' }, 'a,b\tc;d\t1.5\t-0.25\r\n'],
    [{ separator: ';', decimalComma: true }, 'a,b;"c;d";1,5;-0,25\r\n'],
    [{ decimalComma: true }, '"a,b",c;d,"1,5","-0,25"\r\n'],
  ])('writes it for spreadsheets of other countries: %j', (form, line) =>
    expect(csvLine(['a,b', 'c;d', 1.5, -0.25], form)).toBe(line),
  );

  it('keeps every text whole, and contains none that a spreadsheet would evaluate', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n",\'ab') }), {
          minLength: 1,
          maxLength: 4,
        }),
        (texts) => {
          const cells = read(csvLine(texts));
          expect(cells.map(originalText)).toEqual(texts);
          for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        },
      ),
    );
  });
});
