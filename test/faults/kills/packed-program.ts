import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
/** What the built program finds beside itself, as far as `signage serve` asks for it. */
const beside = ['package.json', 'bin'];

/**
 * Puts the built program and its packages into few files, and answers which to run. It is the same
 * code and starts in two thirds of the time: the rest is
 * spent on finding and reading some hundreds of files.
 */
export async function packProgram(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'dist/cli'), { recursive: true });
  for (const path of beside)
    await cp(join(checkout, path), join(folder, path), { recursive: true });
  const packed = await rolldown({
    ...{ cwd: checkout, platform: 'node', logLevel: 'silent' },
    input: { main: 'dist/cli/main.js' },
    // An addition to pg that we do not have.
    external: ['pg-native'],
  });
  await packed.write({ dir: join(folder, 'dist/cli') });
  await packed.close();
  return join(folder, 'bin/signage.js');
}
