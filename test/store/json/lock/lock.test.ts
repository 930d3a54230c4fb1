import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { lockFolder, systemName } from '../../../../src/store/json/lock/folder-lock.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';

const lockedBy = (pid: number | RegExp) =>
  expect.objectContaining({
    code: 'store_locked',
    message: expect.stringMatching(
      new RegExp(typeof pid === 'number' ? `process ${pid}, since 20` : pid),
    ),
  });

let nonces = 0;
const lock = (folder: string, platform: NodeJS.Platform = process.platform) =>
  lockFolder(folder, {
    clock: new ManualClock(),
    random: () => Buffer.from(String(++nonces).padStart(4).padEnd(16)),
    platform,
  });

/** Locks a folder 20 times at once. Returns what releases the only lock. */
async function winnerOf20(folder: string, platform: NodeJS.Platform) {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => lock(folder, platform)),
  );
  const won = results.filter((result) => result.status === 'fulfilled');
  expect(won).toHaveLength(1);
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'store_locked' });
  return won[0]!.value;
}

/** Starts another process that holds a folder's socket in the same way, until it is killed. */
async function holderOf(path: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const script = `
    const holder = JSON.stringify({ pid: process.pid, since: '2026-11-20T12:00:00.000Z', nonce: 'other' });
    require('node:net').createServer((socket) => socket.end(holder + '\\n')).listen(${JSON.stringify(path)}, () => console.log('ready'));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the lock of a data folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  it('excludes others under any path of the folder, and names the holder', async () => {
    const store = await openStore(folder);
    const alias = join(await temporaryFolder(), 'alias');
    await symlink(folder, alias);
    for (const name of [folder, alias, `${folder}/../${folder.split('/').at(-1)}`]) {
      await expect(openStore(name)).rejects.toEqual(lockedBy(process.pid));
    }
    await store.close();
    const next = await openStore(alias);
    await next.close();
  });

  it('is released if opening the store fails', async () => {
    await mkdir(join(folder, 'photos'));
    for (let turn = 0; turn < 2; turn++)
      await expect(openStore(folder)).rejects.toMatchObject({ code: 'store_unusable' });
    expect(await readdir(folder)).toEqual(['photos']);
  });

  it.each<NodeJS.Platform>(['linux', 'darwin'])(
    'goes to one of 20 concurrent attempts (%s)',
    async (platform) => {
      await (await winnerOf20(folder, platform))();
      await (await lock(folder, platform))();
    },
  );

  it('goes to one of 20 that find a dead socket concurrently', async () => {
    for (let turn = 0; turn < 2; turn++) {
      await holderOf(join(folder, 'lock.sock')).then((dead) => dead.kill());
      const release = await winnerOf20(folder, 'darwin');
      await expect(lock(folder, 'darwin')).rejects.toEqual(lockedBy(process.pid));
      await release();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it.skipIf(process.platform !== 'linux')(
    'in another process holds it until it ends, however it ends (abstract sockets are of Linux)',
    async () => {
      const other = await holderOf((await systemName(folder, 'linux'))!);
      await expect(openStore(folder)).rejects.toEqual(lockedBy(other.pid));
      await other.kill();
      await (await openStore(folder)).close();
    },
  );

  it('works across containers that share only the folder, and replaces a dead socket', async () => {
    const other = await holderOf(join(folder, 'lock.sock'));
    await expect(lock(folder)).rejects.toEqual(lockedBy(other.pid));
    await other.kill();
    expect(await readdir(folder)).toEqual(['lock.sock']);
    const release = await lock(folder);
    expect(await readdir(folder)).toEqual([
      'lock.sock',
      expect.stringMatching(/^lock\.sock\.[0-9a-f]{8}$/),
    ]);
    await expect(lock(folder)).rejects.toEqual(lockedBy(process.pid));
    await release();
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['does not answer', () => {}, /another process, which does not answer/],
    ['sends invalid data', (socket: Socket) => void socket.end('hello'), /another process/],
  ])('is held by a process that accepts connections and %s', async (_, answer, holder) => {
    const server = createServer(answer).listen(join(folder, 'lock.sock'));
    await once(server, 'listening');
    await expect(lock(folder)).rejects.toEqual(lockedBy(holder));
    server.close();
  });

  it('works for a folder with a long path: socket paths over 107 bytes are truncated', async () => {
    const long = join(folder, 'x'.repeat(120));
    await mkdir(long);
    const links = async () =>
      (await readdir(tmpdir())).filter((name) => name.startsWith('signage-lock-'));
    const before = await links();
    const release = await lock(long);
    expect(await readdir(long)).toHaveLength(2);
    await expect(lock(long, 'darwin')).rejects.toEqual(lockedBy(process.pid));
    expect(await links()).toEqual(before);
    await release();
    expect(await readdir(long)).toEqual([]);
  });

  it('store_unusable, with the reason, if the folder cannot hold a socket', async () => {
    await expect(lock(join(folder, 'missing'))).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(lock(join(folder, 'missing'), 'darwin')).rejects.toMatchObject({
      code: 'store_unusable',
    });
  });

  it('has a different name for each platform and folder', async () => {
    const other = await temporaryFolder();
    for (const platform of ['linux', 'win32'] as const)
      expect(await systemName(folder, platform)).not.toBe(await systemName(other, platform));
    expect(await systemName(folder, 'linux')).toMatch(/^\0signage-kit\/\d+-\d+$/);
    expect(await systemName(folder, 'win32')).toMatch(/^\\\\\.\\pipe\\signage-kit-[0-9a-f]{64}$/);
    expect(await systemName(folder, 'darwin')).toBeUndefined();
  });
});
