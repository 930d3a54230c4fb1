import { readFile } from 'node:fs/promises';
import { SignageError } from '../../domain/error.ts';
import type { Io } from '../terminal/io.ts';
import { usage } from './settings.ts';

/** Returns the text of a file, or of stdin for `-`. */
export async function readInput(io: Io, path: string): Promise<string> {
  if (path === '-') {
    if (io.stdin.isTTY) throw usage('-f - reads stdin, and nothing is piped in.');
    return io.stdin.text();
  }
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw usage(`The file cannot be read: ${(error as Error).message}.`);
  }
}

/**
 * Returns the non-empty documents of a YAML or JSON file (`-` for stdin). Throws `invalid_file`
 * with the position of a syntax error.
 */
async function readDocuments(io: Io, path: string): Promise<unknown[]> {
  const text = await readInput(io, path);
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text, { prettyErrors: true, uniqueKeys: true });
  const source = path === '-' ? 'stdin' : path;
  return [...documents].flatMap((document) => {
    const [first] = document.errors;
    if (first)
      throw new SignageError(
        'invalid_file',
        `${source} is not valid YAML or JSON: ${first.message.split('\n', 1)[0]?.replace(/:$/, '')}.`,
      );
    try {
      // The limit on aliases prevents a "billion laughs" attack.
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      return value === null ? [] : [value];
    } catch (error) {
      throw new SignageError(
        'invalid_file',
        `${source} cannot be used: ${(error as Error).message}.`,
        { cause: error },
      );
    }
  });
}

/**
 * Returns the only document of a YAML or JSON file. Throws `invalid_file` if there are none or
 * several.
 */
export async function readDocument(io: Io, path: string): Promise<unknown> {
  const [document, ...more] = await readDocuments(io, path);
  if (document !== undefined && more.length === 0) return document;
  throw new SignageError(
    'invalid_file',
    `${path === '-' ? 'stdin' : path} must contain one document, not ${more.length + (document === undefined ? 0 : 1)}.`,
  );
}
