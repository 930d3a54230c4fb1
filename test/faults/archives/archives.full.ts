import { expect, it } from 'vitest';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { fuzzRestore, treeOf, validBackup } from './fuzz-restore.ts';

it('restores 10,000 damaged backups identically, or refuses them in one line without leaving files', async () => {
  const { outcomes, messages, wrong } = await fuzzRestore({ seed: 'full', count: 10_000 });
  console.log(JSON.stringify({ archives: 10_000, reasons: messages.size, outcomes }));
  expect(wrong).toEqual([]);
});

it('refuses a backup truncated at any length', async () => {
  const sound = await validBackup();
  const folder = await temporaryFolder();
  for (let end = 0; end < sound.length; end++) {
    const restoring = restoreStore(new Blob([sound.subarray(0, end)]).stream(), `${folder}/data`);
    await expect(restoring, `${end} bytes`).rejects.toMatchObject({ code: 'backup_unusable' });
    expect(await treeOf(folder), `${end} bytes`).toEqual(new Map());
  }
  console.log(JSON.stringify({ cut: sound.length }));
});
