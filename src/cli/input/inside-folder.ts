import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { SignageError } from '../../domain/error.ts';

/** Whether a file is inside a folder. Both paths must be free of symbolic links. */
function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Resolves the symbolic links of a path that a document in `folder` names. The document may come
 * from an untrusted source, so paths that lead out of its folder are `invalid_file`, unless
 * `allowOutside` is set.
 */
export async function realPathInside(
  folder: string,
  path: string,
  { allowOutside }: { allowOutside: boolean },
): Promise<string> {
  const file = await realpath(path);
  if (allowOutside || isBelow(await realpath(folder), file)) return file;
  throw new SignageError(
    'invalid_file',
    `${path} is outside the folder of the file that names it. To read it, give --allow-outside`,
  );
}
