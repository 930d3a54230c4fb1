import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import { usage } from '../options/settings.ts';

const headFile = z.object({
  writer: z.string(),
  sequence: z.int().min(1),
  mac: z.string().regex(/^[0-9a-f]{64}$/),
  savedAt: z.string().optional(),
});

/** A head of the audit trail, as a file keeps it. */
export type HeadFile = z.infer<typeof headFile>;

/** Reads a head that `writeHead` has written. Throws `usage`, and `invalid_file` for anything else. */
export async function readHead(path: string): Promise<HeadFile> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw usage(`The file of --head cannot be read: ${error.message}.`);
  });
  try {
    return headFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new SignageError(
      'invalid_file',
      `${path} holds no head of an audit trail: name a file that --save-head has written.`,
      { cause },
    );
  }
}

/** Replaces the file as a whole. */
export async function writeHead(path: string, head: HeadFile): Promise<void> {
  try {
    await writeFile(`${path}.partial`, `${JSON.stringify(head)}\n`, { flush: true });
    await rename(`${path}.partial`, path);
  } catch (error) {
    throw usage(`The file of --save-head cannot be written: ${(error as Error).message}.`);
  }
}
