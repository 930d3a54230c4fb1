import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startProxy } from '../../support/network/intervening-proxy.ts';
import { manager } from '../../support/service/management.ts';
import { idOf, someFile } from '../../support/service/media.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

const mebibyte = 1024 * 1024;

/**
 * Starts a proxy in front of the service. `decide` gets the size of each part, and its number,
 * and says whether to pass it on, to pass it on and lose the answer, to cut the connection, or to
 * answer 413. `sent` is the number of bytes that were passed on or cut.
 */
async function startLine(decide: (bytes: number, count: number) => 'pass' | 'lose' | 'cut' | 413) {
  let count = 0;
  let verdict: ReturnType<typeof decide> = 'pass';
  const line = { sent: 0, url: '' };
  const { url } = await startProxy(service.url, {
    before(_, { length }) {
      verdict = length === 0 ? 'pass' : decide(length, count++);
      if (verdict === 413) return 413;
      line.sent += length;
      if (verdict === 'cut') throw new Error('cut');
      return undefined;
    },
    loses: () => verdict === 'lose',
  });
  line.url = url;
  return line;
}

let service: TestService;
let folder: string;
let line: Awaited<ReturnType<typeof startLine>>;
let number = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startService({ store: join(folder, 'data') });
});

async function newFile(bytes: number): Promise<{ path: string; id: string }> {
  const file = someFile(++number, bytes);
  const path = join(folder, `${number}.svg`);
  await writeFile(path, file);
  return { path, id: idOf(file) };
}

const add = (path: string) => cliOf(line, adminToken)(['media', 'add', path, '-o', 'name']);
const bytesOf = async (id: string) => (await manager(service).get(`/v1/media/${id}`)).body.bytes;

it('a file arrives although the line breaks at every third part, before or after it arrived', async () => {
  const bytes = 10 * mebibyte;
  line = await startLine((_, count) =>
    count % 6 === 2 ? 'cut' : count % 6 === 5 ? 'lose' : 'pass',
  );
  const { path, id } = await newFile(bytes);
  expect(await add(path)).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(await bytesOf(id)).toBe(bytes);
}, 30_000);

it('a file arrives through a proxy that takes bodies of 600 KiB', async () => {
  line = await startLine((bytes) => (bytes > 600 * 1024 ? 413 : 'pass'));
  const { path, id } = await newFile(3 * mebibyte + 17);
  expect(await add(path)).toMatchObject({ code: 0 });
  expect(await bytesOf(id)).toBe(3 * mebibyte + 17);
  expect(line.sent).toBe(3 * mebibyte + 17);
});

it('names a proxy that takes no part at all', async () => {
  line = await startLine(() => 413);
  const { path } = await newFile(2 * mebibyte);
  const { code, stderr } = await add(path);
  expect(code).not.toBe(0);
  expect(stderr).toContain('A proxy in front of the service refuses 512 KiB at once.');
});

it('an upload that broke off goes on where it stopped, with the next command', async () => {
  let isBroken = false;
  line = await startLine(() => (isBroken ? 'cut' : 'pass'));
  const breaking = await startLine((_, count) => (count < 3 ? 'pass' : 'cut'));
  const { path, id } = await newFile(9 * mebibyte);
  const first = await cliOf(breaking, adminToken)(['media', 'add', path]);
  expect(first.code).toBe(7);
  expect(await add(path)).toMatchObject({ code: 0 });
  expect(await bytesOf(id)).toBe(9 * mebibyte);
  expect(line.sent).toBeLessThan(5 * mebibyte);
  line.sent = 0;
  isBroken = true;
  expect(await add(path), 'the service has it').toMatchObject({ code: 0 });
  expect(line.sent).toBe(0);
}, 30_000);
