import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { validBackup } from './fuzz-restore.ts';
import { base256, entryOf, paxRecord, putTogether, takeApart, withFields } from './tar-blocks.ts';

const kib = 1024;
const pieceBytes = 64 * kib;

/**
 * Returns a stream of the bytes and then an endlessly repeated piece, and counts the bytes read.
 */
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

const header = async () => (takeApart(await validBackup())[0] as { header: Buffer }).header;
const headOnly = async () =>
  putTogether(takeApart(await validBackup()).slice(0, 1)).subarray(0, -1024);
const huge = (type: string) => async () =>
  Buffer.concat([withFields(await header(), { type, name: 'Header', size: 400_000_000 })]);

it.each([
  ['zeros', async () => Buffer.alloc(1), Buffer.alloc(pieceBytes)],
  ['text', async () => Buffer.alloc(1), Buffer.alloc(pieceBytes, 'x')],
  ['a PAX header of 400 MB', huge('x'), Buffer.alloc(pieceBytes, paxRecord('comment', 'x'))],
  ['a global PAX header of 400 MB', huge('g'), Buffer.alloc(pieceBytes, paxRecord('comment', 'x'))],
  ['a long name of 400 MB', huge('L'), Buffer.alloc(pieceBytes, 'x')],
  [
    'a list of files of 400 MB',
    async () => withFields(await header(), { size: 400_000_000 }),
    Buffer.alloc(pieceBytes, ' '),
  ],
  [
    'a list of files of 8 EB',
    async () => withFields(await header(), { size: base256(2n ** 63n - 1n) }),
    Buffer.alloc(pieceBytes, ' '),
  ],
  ['PAX headers', async () => Buffer.alloc(0), await paxHeaders()],
  ['empty files', headOnly, await emptyFiles()],
])('refuses %s without an end, and reads little of it', async (_what, first, piece) => {
  const folder = await temporaryFolder();
  const { taken, source } = endless(await first(), piece);
  await expect(restoreStore(source, join(folder, 'data'))).rejects.toMatchObject({
    code: 'backup_unusable',
  });
  expect(taken.bytes).toBeLessThan(4 * pieceBytes);
  expect(await readdir(folder)).toEqual([]);
});

async function paxHeaders(): Promise<Uint8Array> {
  const { header: head, body } = entryOf(
    await header(),
    { type: 'x' },
    Buffer.from(paxRecord('comment', 'x')),
  );
  return Buffer.concat([head, body]);
}

async function emptyFiles(): Promise<Uint8Array> {
  return entryOf(await header(), { name: 'secret' }, Buffer.alloc(0)).header;
}
