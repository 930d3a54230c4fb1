import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textLines } from '../../../../src/store/json/checkpoint/document-file.ts';
import type { OpenFile } from '../../../../src/store/json/disk/file-system.ts';
import {
  type Line,
  linesBackward,
  linesForward,
  readAt,
  seekLine,
} from '../../../../src/store/json/log/line-reader.ts';

/** A file that returns at most `most` bytes per read. */
function fileOf(text: string, most = Number.POSITIVE_INFINITY): OpenFile & { reads: number } {
  const bytes = Buffer.from(text);
  const refuse = () => Promise.reject(new Error('only read'));
  const file = {
    reads: 0,
    write: refuse,
    truncate: refuse,
    datasync: refuse,
    size: async () => bytes.length,
    close: async () => {},
    async read(into: Uint8Array, position: number) {
      file.reads++;
      return bytes.copy(
        into,
        0,
        Math.min(position, bytes.length),
        Math.min(bytes.length, position + most),
      );
    },
  };
  return file;
}

async function all(lines: AsyncGenerator<Line[]>): Promise<[number, string][]> {
  const found: [number, string][] = [];
  for await (const some of lines)
    found.push(...some.map(({ offset, bytes }): [number, string] => [offset, bytes.toString()]));
  return found;
}

/** Lines that start with their number. Every seventh is long; some exceed the read size. */
function numbered(count: number, long = 300_000): { text: string; offsets: number[] } {
  let text = '';
  const offsets: number[] = [];
  for (let n = 0; n < count; n++) {
    offsets.push(text.length);
    text += `${n}:${'x'.repeat(n % 7 === 3 ? long : n)}\n`;
  }
  return { text, offsets };
}

describe('lines', () => {
  it.each([0, 1, 2, 40])(
    'of %i are all found, forwards and backwards, from any beginning to any end',
    async (count) => {
      const { text, offsets } = numbered(count);
      const lines = text
        .split('\n')
        .slice(0, -1)
        .map((line, n): [number, string] => [offsets[n]!, line]);
      const file = fileOf(text, 50_000);
      for (const [from, to] of [
        [0, count],
        [0, Math.floor(count / 2)],
        [Math.floor(count / 3), count],
        [count, count],
      ] as const) {
        const [start, end] = [offsets[from] ?? text.length, offsets[to] ?? text.length];
        expect(await all(linesForward(file, start, end))).toEqual(lines.slice(from, to));
        expect(await all(linesBackward(file, start, end))).toEqual(lines.slice(from, to).reverse());
      }
    },
  );

  it('of a file that is shorter than expected end where the file ends', async () => {
    expect(await all(linesForward(fileOf('a\nb\nc'), 0, 100))).toEqual([
      [0, 'a'],
      [2, 'b'],
    ]);
    expect((await readAt(fileOf('abc', 1), 1, 100)).toString()).toBe('bc');
    expect(await seekLine(fileOf('a\n'), 100_000, () => true)).toBe(100_000);
  });
});

describe('seekLine', () => {
  it.each([0, 1, 5, 2_000])(
    'finds the first line for which before is false, in %i lines',
    async (count) => {
      const { text, offsets } = numbered(count, 50);
      for (const wanted of [0, 1, 3, 77, 1_000, 1_999, 2_000].filter((n) => n <= count)) {
        const file = fileOf(text);
        const found = await seekLine(
          file,
          text.length,
          (head) => Number.parseInt(head.toString(), 10) < wanted,
        );
        expect(found).toBe(offsets[wanted] ?? text.length);
        expect(file.reads).toBeLessThan(40);
      }
    },
  );

  it('finds the line among lines of any length', async () => {
    const length = fc.oneof(
      { weight: 3, arbitrary: fc.nat(200) },
      { weight: 1, arbitrary: fc.nat(60_000) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 40 }), fc.nat(40), async (lengths, wanted) => {
        const lines = lengths.map((each, n) => `${n}:${'x'.repeat(each)}\n`);
        const found = await seekLine(
          fileOf(lines.join('')),
          lines.join('').length,
          (head) => Number.parseInt(head.toString(), 10) < wanted,
        );
        expect(found).toBe(lines.slice(0, wanted).join('').length);
      }),
      { numRuns: 100 },
    );
  });
});

describe('textLines', () => {
  it.each([
    ['', []],
    [',"12345678",a', ['a']],
    [',"12345678",a\n', ['a']],
    [',"12345678",a\n,"12345678",b\n', ['a', 'b']],
  ])('of %j', (text, lines) => expect([...textLines(text)]).toEqual(lines));
});
