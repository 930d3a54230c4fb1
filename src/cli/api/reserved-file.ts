import { type FileHandle, open, unlink } from 'node:fs/promises';
import { usage } from '../options/settings.ts';

/** A new, empty file that waits for a secret, so that the secret is not made where it cannot be kept. */
export interface ReservedFile {
  /** Writes the secret, durably. */
  write(secret: string): Promise<void>;
  /** Takes the file away again. */
  discard(): Promise<void>;
}

async function create(path: string, flag: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usage(`${flag} names a new file, and ${path} is there already.`);
    throw usage(`The file of ${flag} cannot be made: ${message}.`);
  }
}

/** Makes a file that only its owner may read. Nothing that is there already is followed or overwritten: that is a `usage` error, naming `flag`. */
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
