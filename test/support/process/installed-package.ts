import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../disk/temporary-folder.ts';
import { checkout } from './signage-process.ts';

const run = promisify(execFile);
const tsc = join(checkout, 'node_modules/typescript/bin/tsc');

/** Packs `dist`, which must be built, and installs the tarball into an empty project. */
export async function installPackage() {
  const folder = await temporaryFolder();
  // Without scripts, because other tests run from dist/.
  const { stdout } = await run(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: checkout },
  );
  const [pack] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  const tarball = join(folder, pack!.filename);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
  });
  // `packed`: the paths of the packed files.
  return { folder, tarball, packed: pack!.files.map((file) => file.path) };
}

/** A project of a user with the packed package as its only dependency. */
export type InstalledPackage = Awaited<ReturnType<typeof installPackage>>;

/** Installs a version of TypeScript in a folder of its own, and returns the path of its package. */
export async function installTypeScript(version: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'package.json'), '{}');
  const wanted = `typescript@${version}`;
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', wanted], {
    cwd: folder,
  });
  return join(folder, 'node_modules/typescript');
}

/**
 * Compiles files of a project, and checks all declarations that they need. Returns the errors of
 * the compiler: an empty text if there are none.
 */
export async function compile(
  folder: string,
  files: readonly string[],
  options: object = {},
  compiler = tsc,
): Promise<string> {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    outDir: 'out',
    ...options,
  };
  const config = { compilerOptions, files };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return run(process.execPath, [compiler, '-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}
