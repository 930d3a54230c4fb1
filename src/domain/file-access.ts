import { SignageError } from './error.ts';

const readable = 0o055;
const writable = 0o022;

/**
 * Returns whether other users of the machine can read or execute a file, or read or enter a folder,
 * of this mode.
 */
export const othersCanRead = (mode: number): boolean => (mode & readable) !== 0;

/** Returns whether other users of the machine can change a file or folder of this mode. */
export const othersCanWrite = (mode: number): boolean => (mode & writable) !== 0;

/** Quotes a text as one word for a shell, if necessary. */
export function shellQuote(text: string): string {
  return /^[\w./@%+,:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a message that names the access of other users to a file or folder, and the command that
 * removes it.
 */
export function describeOthersAccess(
  access: 'read' | 'write',
  path: string,
  mode: number,
  fix: string,
): string {
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${path} can be ${access === 'read' ? 'read' : 'changed'} by others on this machine (mode ${shown}): ${fix}`;
}

/** Returns the error for a file or folder that other users can change. */
export function openToOthersError(
  path: string,
  mode: number,
  fix: string,
  hint?: string,
): SignageError {
  return new SignageError(
    'open_to_others',
    describeOthersAccess('write', path, mode, fix),
    hint === undefined ? {} : { hint },
  );
}

/** Error codes of Windows for a file that another program, such as a virus scanner, has open. */
const inUseCodes = new Set<unknown>(['EPERM', 'EBUSY']);
/** Pauses between attempts, 0.6 s in total. */
const pausesMs = [10, 20, 40, 80, 160, 320];

/**
 * Calls `rename`, which renames a file. Retries while another program has one of the two files
 * open. On systems other than Windows, such errors are permanent, and are thrown after the same
 * retries.
 */
export async function retryWhileInUse(rename: () => Promise<void>): Promise<void> {
  for (const pauseMs of pausesMs) {
    try {
      return await rename();
    } catch (error) {
      if (!inUseCodes.has((error as NodeJS.ErrnoException).code)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return rename();
}
