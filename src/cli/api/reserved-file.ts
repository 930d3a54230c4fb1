import { type FileHandle, open, unlink } from 'node:fs/promises';
import { usage } from '../options/settings.ts';

/**
 * A new file, created before the secret, so that no secret is lost when the file cannot be created.
 */
export interface ReservedFile {
  /** Writes the secret, durably. */
  write(secret: string): Promise<void>;
  /** Deletes the file. */
  discard(): Promise<void>;
}

async function create(path: string, flag: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usage(`${flag} needs a new file, and ${path} exists.`);
    throw usage(`The file of ${flag} cannot be created: ${message}.`);
  }
}

/**
 * Creates a file with mode 0600. Throws `usage` with `flag` if the path exists, and never follows a
 * link.
 */
export async function reserveFile(path: string, flag: string): Promise<ReservedFile> {
  const file = await create(path, flag);
  return {
    async write(secret) {
      await file.writeFile(`${secret}\n`);
      await file.sync();
      await file.close();
    },
    async discard() {
      await file.close();
      await unlink(path);
    },
  };
}
