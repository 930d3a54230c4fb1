import { rm, stat } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import { SignageError } from '../../domain/error.ts';
import { type FileUse, unusableFile } from '../input/file-error.ts';
import { readRegularFile } from '../input/read-file.ts';
import { shellQuote } from '../terminal/text.ts';
import { replacePrivateFile } from './private-file.ts';

interface StateFileOptions<T> {
  /** Checks the parsed content. Throws if it is damaged. */
  parse(content: unknown): T;
  /** For the errors of the file. Damage has the code `invalid_file` by default. */
  use: FileUse;
  /** The hint for a damaged file. */
  remedy: string;
  /** Whether the file has keys or tokens, so that no other user may have access. Default: true. */
  isSecret?: boolean;
  /** Whether a lock keeps other processes from the file. Default: false. */
  isLocked?: boolean;
  /** Number of spaces of the indentation. Default: none. */
  indent?: number;
}

/** Throws if other users have access to a file. Skips that check on Windows, which has no modes. */
async function requirePrivate(path: string, { code = 'usage' }: FileUse): Promise<void> {
  const { mode } = await stat(path);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  const message = `${path} can be read by other users of this machine (mode ${shown}).`;
  throw new SignageError(code, message, { hint: `chmod 600 ${shellQuote(path)}` });
}

/**
 * Returns the lowdb adapter for a file in which a command keeps its state. `read` resolves with
 * `null` if there is no file. `write` replaces the file atomically and durably, with mode 0600.
 */
export function stateFile<T>(path: string, options: StateFileOptions<T>): Adapter<T> {
  const { parse, use, remedy, isSecret = true, isLocked = false, indent } = options;
  async function readText(): Promise<string | null> {
    try {
      if (isSecret) await requirePrivate(path, use);
      return await readRegularFile(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw unusableFile(error, path, use);
    }
  }
  return {
    async read() {
      const text = await readText();
      if (text === null) return null;
      try {
        return parse(JSON.parse(text));
      } catch {
        const what = use.what === undefined ? '' : ` (${use.what})`;
        throw new SignageError(
          use.code ?? 'invalid_file',
          `${path} is damaged, or another kind of file${what}.`,
          { hint: remedy },
        );
      }
    },
    async write(state) {
      const text = `${JSON.stringify(state, null, indent)}\n`;
      const temporary = isLocked ? `${path}.new` : undefined;
      try {
        // A power failure may have left it behind.
        if (temporary !== undefined) await rm(temporary, { force: true });
        await replacePrivateFile(path, text, { temporary });
      } catch (error) {
        throw unusableFile(error, path, { ...use, access: 'written' });
      }
    },
  };
}
