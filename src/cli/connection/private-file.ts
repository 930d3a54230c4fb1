import { fsync } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import {
  describeOthersAccess,
  openToOthersError,
  othersCanRead,
  othersCanWrite,
  retryWhileInUse,
} from '../../domain/file-access.ts';
import type { LogSink } from '../../domain/log.ts';
import { decodeText } from '../input/decode-text.ts';
import { unusableFile } from '../input/file-error.ts';
import { readRegularBytes } from '../input/read-file.ts';
import { usage } from '../input/settings.ts';
import { shellQuote } from '../terminal/text.ts';

export type Warn = (message: string) => void;

const syncDescriptor = promisify(fsync);

/**
 * Makes the content of a file durable. Does not use `FileHandle.sync`, because Yarn Plug'n'Play
 * replaces FileHandle by a class without it.
 */
export const syncHandle = ({ fd }: FileHandle): Promise<void> => syncDescriptor(fd);

/** Windows has no file modes, and cannot sync a folder. */
const isWindows = process.platform === 'win32';

/**
 * Checks whether other users can access a file with a secret. If other users can change it, calls
 * `allow`, or throws `open_to_others` without `allow`. If they can read it, calls `warn`. Skips
 * pipes and devices. Skips all files on Windows, which has no file modes.
 */
async function checkSecretAccess(
  path: string,
  { warn, allow }: { warn?: Warn; allow?: Warn } = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || isWindows) return;
  const fix = `chmod go-rwx ${shellQuote(path)}`;
  if (othersCanWrite(found.mode)) {
    if (!allow) throw openToOthersError(path, found.mode, fix);
    allow(describeOthersAccess('write', path, found.mode, fix));
  } else if (othersCanRead(found.mode)) warn?.(describeOthersAccess('read', path, found.mode, fix));
}

/**
 * Checks the secret files of `signage serve`. Logs a warning instead of throwing if
 * `isOpenAllowed`.
 */
export async function checkSecretFiles(
  paths: readonly (string | undefined)[],
  isOpenAllowed: boolean,
  log: LogSink,
): Promise<void> {
  for (const path of paths) {
    const warn = (message: string) => log.warn({ path }, message);
    if (path !== undefined)
      await checkSecretAccess(path, isOpenAllowed ? { warn, allow: warn } : { warn });
  }
}

/** Returns a text without the quotes around it, which a shell or an editor may leave. */
const unquoted = (text: string) => /^(['"])(.*)\1$/s.exec(text)?.[2]?.trim() ?? text;

/**
 * Reads a secret from a file in UTF-8, or in UTF-16, as `>` of Windows writes it. Trims it. Throws
 * `usage` if the file is unreadable or empty. The message never contains the secret.
 */
export async function readSecretFile(path: string, what: string): Promise<string> {
  let text: string;
  try {
    text = decodeText(await readRegularBytes(path), { file: path, isSecret: true });
  } catch (error) {
    throw unusableFile(error, path, { what });
  }
  const secret = unquoted(text.trim());
  if (secret === '') throw usage(`${path} is empty (${what}).`);
  return secret;
}

/**
 * Like `readSecretFile`, but throws `open_to_others` if other users can change the file. Calls
 * `warn` if they can read it.
 */
export async function readTokenFile(path: string, warn?: Warn): Promise<string> {
  await checkSecretAccess(path, warn ? { warn } : {});
  return readSecretFile(path, 'the token file');
}

/** Waits for a write to a file. Adds the path to its error, which Node leaves out. */
export function namingFile<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw Object.assign(error as Error, { path });
  });
}

/** Writes a secret durably to a new file with mode 0600. Never overwrites, never follows a link. */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await syncHandle(file);
  } finally {
    await file.close();
  }
}

/**
 * Creates a file with mode 0600. Throws `usage` if the path exists or cannot be written. The
 * message names the option `flag`. Never follows a link.
 */
export async function createFile(path: string, flag: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw usage(`${flag} needs a new file, and ${path} exists.`);
    throw unusableFile(error, path, { what: flag, access: 'written' });
  }
}

/**
 * Like `createFile`, for a secret. The file is created before the secret, so that an unusable path
 * loses no secret.
 */
export async function reserveFile(path: string, flag: string) {
  const file = await createFile(path, flag);
  return {
    async write(secret: string): Promise<void> {
      await namingFile(path, file.writeFile(`${secret}\n`));
      await namingFile(path, syncHandle(file));
      await file.close();
    },
    async discard(): Promise<void> {
      await file.close();
      await unlink(path);
    },
  };
}

async function syncFolder(path: string): Promise<void> {
  if (isWindows) return;
  const folder = await open(dirname(path));
  await syncHandle(folder).finally(() => folder.close());
}

/**
 * Replaces a file atomically and durably: writes `temporary`, which must not exist, and renames it.
 * Default mode: 0600, so that no other user can read the file, not even while it is written.
 */
export async function replacePrivateFile(
  path: string,
  text: string,
  { temporary = `${path}.${crypto.randomUUID()}`, mode = 0o600 } = {},
): Promise<void> {
  const file = await open(temporary, 'wx', mode);
  try {
    await namingFile(path, file.writeFile(text));
    await namingFile(path, syncHandle(file));
    await file.close();
    await retryWhileInUse(() => rename(temporary, path));
  } catch (error) {
    await file.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(path);
}
