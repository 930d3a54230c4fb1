// Defective restores.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { fuzzRestore } from '../archives/fuzz-restore.ts';
import { seeded } from './seeded-defect.ts';

type Restore = typeof restoreStore;

/** Acts on the folder, or throws another error, when a restore fails. */
const afterFailure =
  (act: (folder: string, error: Error) => Promise<unknown>): Restore =>
  (backup, folder, options) =>
    restoreStore(backup, folder, options).catch(async (error: Error) => {
      await act(folder, error);
      throw error;
    });

const defects: Record<string, Restore> = {
  'a restore that fails leaves an empty folder': afterFailure((folder) =>
    mkdir(join(folder, 'journal'), { recursive: true }),
  ),
  'a restore that fails takes the folder that was there': afterFailure((folder) =>
    rm(folder, { recursive: true, force: true }),
  ),
  'an error of the reader flies': afterFailure((_folder, error) =>
    Promise.reject(new TypeError(error.message)),
  ),
  'a message of two lines': afterFailure(async (_folder, error) => {
    error.message += '\nat byte 0';
  }),
  'a damaged backup taken for a sound one': (backup, folder, options) =>
    restoreStore(backup, folder, options).catch(() => ({
      at: '',
      counts: {},
      sha256: '',
      missingFiles: [],
      pausedWebhooks: 0,
    })),
  'a restore without the bytes of media': async (backup, folder, options) => {
    const restored = await restoreStore(backup, folder, options);
    await rm(options?.media ?? join(folder, 'media'), { recursive: true, force: true });
    return restored;
  },
};

const only = ['cut short', 'a line twice', 'the last parts left out'];
const fuzz = { seed: 'planted', count: 45, only };

export const archives = seeded(
  'fuzz-restore',
  async (restore?: Restore) =>
    (await fuzzRestore({ ...fuzz, restore: restore ?? restoreStore })).wrong,
  defects,
);
