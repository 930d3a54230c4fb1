import { expect, it } from 'vitest';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { fuzzRestore, treeOf, validBackup } from './fuzz-restore.ts';

const mib = 1024 * 1024;

it('restores 10,000 damaged backups identically, or refuses them with line and reason, without leaving files', async () => {
  const before = process.memoryUsage().rss;
  const { outcomes, messages, wrong } = await fuzzRestore({ seed: 'full', count: 10_000 });
  const grownBytes = process.memoryUsage().rss - before;
  console.log(JSON.stringify({ archives: 10_000, reasons: messages.size, grownBytes, outcomes }));
  expect(wrong).toEqual([]);
  expect(grownBytes).toBeLessThan(50 * mib);
});

it('refuses a backup truncated at any length, and names the line', async () => {
  const sound = await validBackup();
  const folder = await temporaryFolder();
  for (let end = 0; end < sound.length; end++) {
    const restoring = restoreStore(new Blob([sound.subarray(0, end)]).stream(), `${folder}/data`);
    const line = sound.subarray(0, end).toString('latin1').split('\n').length;
    await expect(restoring, `${end} bytes`).rejects.toMatchObject({
      code: 'backup_unusable',
      message: expect.stringContaining(`: line ${line}: `),
    });
    expect(await treeOf(folder), `${end} bytes`).toEqual(new Map());
  }
  console.log(JSON.stringify({ cut: sound.length }));
});
