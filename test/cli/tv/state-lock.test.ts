import { link, readdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { acquireLock } from '../../../src/cli/commands/tv/state-lock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

// Other systems use a socket file, which also works here.
describe.each(
  process.platform === 'win32' ? (['win32'] as const) : ([process.platform, 'darwin'] as const),
)('acquireLock on %s', (platform) => {
  it('locks a file for one process, whichever path names it', async () => {
    const file = join(folder, `${platform}.json`);
    const release = await acquireLock(file, platform);
    expect(release).toBeDefined();
    expect(await acquireLock(file, platform)).toBeUndefined();
    await symlink(folder, join(folder, `link-${platform}`));
    expect(
      await acquireLock(join(folder, `link-${platform}`, `${platform}.json`), platform),
    ).toBeUndefined();
    const other = await acquireLock(join(folder, 'other.json'), platform);
    expect(other).toBeDefined();
    await release?.();
    const again = await acquireLock(file, platform);
    expect(again).toBeDefined();
    await Promise.all([again?.(), other?.()]);
  });

  it('fails in a missing folder', async () => {
    await expect(acquireLock(join(folder, 'nowhere', 'tv.json'), platform)).rejects.toThrow(
      'ENOENT',
    );
  });
});

describe.skipIf(process.platform === 'win32')(
  'acquireLock with a socket file (not on Windows)',
  () => {
    it('takes over the socket of a process that was killed', async () => {
      const file = join(folder, 'left.json');
      const before = new Set(await readdir(tmpdir()));
      const release = await acquireLock(file, 'darwin');
      const name =
        (await readdir(tmpdir())).find(
          (one) => one.startsWith('signage-tv-') && !before.has(one),
        ) ?? '';
      await release?.();
      // A killed process leaves the socket file, but nothing listens on it.
      const left = createServer();
      await new Promise<void>((resolve) => left.listen(join(tmpdir(), `${name}.living`), resolve));
      await link(join(tmpdir(), `${name}.living`), join(tmpdir(), name));
      await new Promise((resolve) => left.close(resolve));
      const again = await acquireLock(file, 'darwin');
      expect(again).toBeDefined();
      await again?.();
    });
  },
);
