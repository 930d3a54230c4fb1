import { z } from 'zod';
import { SignageError } from '../../../domain/error.ts';
import { replacePrivateFile } from '../../connection/private-file.ts';
import { unusableFile } from '../../input/file-error.ts';
import { readRegularFile } from '../../input/read-file.ts';

const headFile = z.object({
  writer: z.string(),
  sequence: z.int().min(1),
  mac: z.string().regex(/^[0-9a-f]{64}$/),
  savedAt: z.string().optional(),
});

/** The saved head (last entry) of the audit trail. */
export type HeadFile = z.infer<typeof headFile>;

/**
 * Reads a file that `writeHead` wrote. Throws `usage` if the file cannot be read, and
 * `invalid_file` if its content is invalid.
 */
export async function readHead(path: string): Promise<HeadFile> {
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw unusableFile(error, path, { what: '--head' });
  });
  try {
    return headFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new SignageError(
      'invalid_file',
      `${path} is not a head of an audit trail: give a file that --save-head wrote.`,
      { cause },
    );
  }
}

/** Replaces the file atomically. Throws `usage` if it cannot be written. */
export async function writeHead(path: string, head: HeadFile): Promise<void> {
  try {
    await replacePrivateFile(path, `${JSON.stringify(head)}\n`, { mode: 0o666 });
  } catch (error) {
    throw unusableFile(error, path, { what: '--save-head', access: 'written' });
  }
}
