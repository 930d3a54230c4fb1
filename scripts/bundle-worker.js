// Bundles the thread that examines media into one CommonJS file, which the program reads and runs
// as a text: the executable has no files of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { oneFile, refuseUnresolved } from './bundle-output.js';
import { escapeBeyondAscii } from './escape-beyond-ascii.js';
import { bundledPackageFolders, joinLicences, licenceTexts } from './licence-texts.js';

const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Writes the program of the thread and the licences of its packages to a folder. */
export async function bundleWorker(folder) {
  const bundle = await rolldown({
    cwd: fromRoot(''),
    input: fromRoot('src/media/examination/worker.ts'),
    platform: 'node',
    onLog: refuseUnresolved,
  });
  const { output } = await bundle.generate(oneFile);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'worker.cjs'), escapeBeyondAscii(output[0].code));
  const packages = licenceTexts(bundledPackageFolders(output));
  writeFileSync(join(folder, 'licenses.txt'), joinLicences(packages));
}
