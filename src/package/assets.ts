import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Folders of files that the program reads in addition to its code, relative to this module.
 */
const folders = {
  package: '../../',
  fixtures: '../../fixtures/',
  devices: '../../fixtures/devices/',
  media: '../../fixtures/media/',
  playlists: '../../fixtures/playlists/',
  scenarios: '../../fixtures/scenarios/',
  docs: '../http/docs/',
  // The build bundles the pages for browsers, and the thread that examines media. These paths are
  // correct from both src/ and dist/.
  web: '../../dist/web/',
  examination: '../../dist/examination/',
  schema: '../store/postgres/schema/',
  completion: '../cli/commands/completion/scripts/',
};

export type AssetFolder = keyof typeof folders;

/**
 * Reads a file that belongs to the program. Throws the error of the file system if it is missing.
 * `npm run binary` replaces this module: in the executable, the files are in memory.
 */
export function readAsset(folder: AssetFolder, name: string): Buffer {
  const file = new URL(folders[folder] + name, import.meta.url);
  // In a checkout, the files of Swagger UI are in its npm package. The build copies them to `docs`.
  if (folder === 'docs' && !existsSync(file))
    return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  return readFileSync(file);
}

/**
 * Returns the sorted names of the files in a folder, without subfolders and hidden files. Returns
 * no names for pages of browsers in a checkout that was not built.
 */
export function assetNames(folder: AssetFolder): string[] {
  const url = new URL(folders[folder], import.meta.url);
  if (folder === 'web' && !existsSync(url)) return [];
  const entries = readdirSync(url, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}
