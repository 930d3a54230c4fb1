import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { checkout } from '../../support/process/signage-process.ts';

/** Files that `signage serve` reads beside itself. */
const beside = ['package.json', 'bin'];

/**
 * Bundles the built program and its packages into few files, and returns its path. It starts in two
 * thirds of the time, because it reads fewer files.
 */
export async function packProgram(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'dist/cli'), { recursive: true });
  for (const path of beside)
    await cp(join(checkout, path), join(folder, path), { recursive: true });
  const packed = await rolldown({
    ...{ cwd: checkout, platform: 'node', logLevel: 'silent' },
    input: { main: 'dist/cli/main.js' },
    // An optional addition to pg.
    external: ['pg-native'],
  });
  await packed.write({ dir: join(folder, 'dist/cli') });
  await packed.close();
  return join(folder, 'bin/signage.js');
}
