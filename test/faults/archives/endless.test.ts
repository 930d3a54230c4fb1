import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { validBackup } from './fuzz-restore.ts';

const pieceBytes = 64 * 1024;
const maxLineBytes = 16 * 1024 * 1024;

/** Returns a stream of the bytes and then an endlessly repeated piece. Counts the bytes read. */
function endless(first: Uint8Array, piece: Uint8Array) {
  const taken = { bytes: 0 };
  async function* pieces() {
    for (let next = first; ; next = piece) {
      taken.bytes += next.length;
      yield next;
    }
  }
  return { taken, source: pieces() };
}

const headLine = async () => {
  const dump = await validBackup();
  return dump.subarray(0, dump.indexOf('\n') + 1);
};

it.each([
  ['zeros', async () => Buffer.alloc(1), Buffer.alloc(pieceBytes), 4 * pieceBytes],
  ['text', async () => Buffer.alloc(1), Buffer.alloc(pieceBytes, 'x'), 4 * pieceBytes],
  ['empty lines', headLine, Buffer.alloc(pieceBytes, '\n'), 4 * pieceBytes],
  ['a line', headLine, Buffer.alloc(pieceBytes, 'x'), maxLineBytes + 4 * pieceBytes],
])('refuses %s without an end, and reads little of it', async (_what, first, piece, mostBytes) => {
  const folder = await temporaryFolder();
  const { taken, source } = endless(await first(), piece);
  const before = process.memoryUsage().rss;
  await expect(restoreStore(source, join(folder, 'data'))).rejects.toMatchObject({
    code: 'backup_unusable',
  });
  expect(taken.bytes).toBeLessThan(mostBytes);
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  expect(await readdir(folder)).toEqual([]);
});
