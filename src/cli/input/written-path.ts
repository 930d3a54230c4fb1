import { lstat, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const isWindows = process.platform === 'win32';
const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Form in which names of files are compared: macOS decomposes accents, and has its own spaces. */
const fold = (name: string) => name.normalize('NFC').replaceAll(/\p{Zs}/gu, ' ');

/** Removes quotes and space around a path. */
const bare = (text: string) => /^\s*(["'“”„‘’«»]?)(.*?)(["'“”‘’«»]?)\s*$/su.exec(text);

/** Returns the path of a `file:` URL. `undefined`: it is none, or of another computer. */
function pathOfUrl(text: string): string | undefined {
  const [, host = '', path = ''] = /^file:(?:\/\/([^/\\]*))?([/\\].*)$/is.exec(text) ?? [];
  if (path === '' || !['', 'localhost'].includes(host.toLowerCase())) return undefined;
  try {
    return decodeURIComponent(path).replace(/^[/\\](?=[a-z]:)/i, '');
  } catch {
    return undefined;
  }
}

/** Yields the ways in which a path may be meant, the likeliest first. */
function* meanings(given: string): Generator<string> {
  yield given;
  const [, open = '', inner = given, close = ''] = bare(given) ?? [];
  const texts = [given, `${open}${inner}${close}`, ...(open && close ? [inner] : [])];
  for (const text of texts) {
    const path = pathOfUrl(text) ?? text.replace(/^~(?=$|[/\\])/, () => homedir());
    yield path;
    if (isWindows) continue;
    // As a shell takes it, as Windows writes it, and where Linux on Windows has its drives.
    yield path.replaceAll(/\\(.)/gs, '$1');
    const slashes = path.replaceAll('\\', '/');
    yield slashes;
    yield slashes.replace(/^([a-z]):\//i, (_, drive: string) => `/mnt/${drive.toLowerCase()}/`);
  }
}

/** Finds a path whose folders or file have the other form of Unicode on the disk. */
async function find(path: string): Promise<string | undefined> {
  if (await isThere(path)) return path;
  let found = isAbsolute(path) ? '/' : '';
  for (const part of path.split('/').filter(Boolean)) {
    const next = `${found}${part}`;
    if (await isThere(next)) found = `${next}/`;
    else {
      const names = await readdir(found || '.').catch(() => []);
      const [match, ...others] = names.filter((name) => fold(name) === fold(part));
      if (match === undefined || others.length > 0) return undefined;
      found = `${found}${match}/`;
    }
  }
  return found === '' ? undefined : found.slice(0, -1);
}

/** Returns the name that a folder has instead, in other capitals. */
async function otherCase(path: string): Promise<string | undefined> {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  const names = await readdir(parts.join('/') || (isAbsolute(path) ? '/' : '.')).catch(() => []);
  return names.find((one) => fold(one).toLowerCase() === fold(name).toLowerCase());
}

/** Says why a path that a person wrote names no file. `undefined`: there is just none. */
async function reasonFor(given: string): Promise<string | undefined> {
  const text = bare(given)?.[2] ?? given;
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'file') return 'it is a file of another computer, or its URL is malformed';
  if (scheme !== undefined) return `a URL of ${scheme} cannot be read: download it first`;
  if (!isWindows && /^(?:[a-z]:|\\\\)/i.test(text)) return 'it is a path of Windows';
  if (/^~[^/\\]/.test(text)) return 'only ~ alone is the home folder: write the whole path';
  if (/\$\w|\$\{|%\w+%/.test(text)) return 'the shell did not replace the variable in it';
  if (/[*?]/.test(text)) return 'the shell did not replace the pattern in it';
  const other = await otherCase(text.replaceAll('\\', '/'));
  return other === undefined ? undefined : `there is ${other}, in other capitals`;
}

/**
 * Returns the path of an existing file or folder that a person wrote, maybe on another system: in
 * the other form of Unicode, with backslashes, in quotes, as a `file:` URL, or with `~`. Throws an
 * error with the code `ENOENT`, and with a `reason` if the path could not be right here.
 *
 * @param folder that a relative path starts from
 */
export async function findWrittenPath(given: string, folder = ''): Promise<string> {
  const tried = new Set<string>();
  for (const meaning of meanings(given)) {
    const path = isAbsolute(meaning) || folder === '' ? meaning : join(folder, meaning);
    if (meaning === '' || tried.has(path)) continue;
    tried.add(path);
    const found = await find(path);
    if (found !== undefined) return found;
  }
  const reason = await reasonFor(given);
  throw Object.assign(new Error(`no such file: ${given}`), { code: 'ENOENT', reason });
}
