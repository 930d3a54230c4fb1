import { readFile } from 'node:fs/promises';
import { SignageError } from '../../domain/error.ts';
import type { Io } from '../terminal/io.ts';
import { usage } from './settings.ts';

/** The text of a file, or with `-` what is piped in. */
export async function readInput(io: Io, path: string): Promise<string> {
  if (path === '-') {
    if (io.stdin.isTTY) throw usage('-f - reads what is piped in, and nothing is.');
    return io.stdin.text();
  }
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw usage(`The file cannot be read: ${(error as Error).message}.`);
  }
}

/** The documents of a YAML or JSON file (`-` for stdin), empty ones left out. Throws `invalid_file` with the place of the mistake. */
async function readDocuments(io: Io, path: string): Promise<unknown[]> {
  const text = await readInput(io, path);
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text, { prettyErrors: true, uniqueKeys: true });
  const what = path === '-' ? 'stdin' : path;
  return [...documents].flatMap((document) => {
    const [first] = document.errors;
    if (first)
      throw new SignageError(
        'invalid_file',
        `${what} is no YAML or JSON: ${first.message.split('\n', 1)[0]?.replace(/:$/, '')}.`,
      );
    try {
      // Aliases are counted, lest a small file blows up into a large one.
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      return value === null ? [] : [value];
    } catch (error) {
      throw new SignageError(
        'invalid_file',
        `${what} cannot be used: ${(error as Error).message}.`,
        { cause: error },
      );
    }
  });
}

/** The one document of a YAML or JSON file. */
export async function readDocument(io: Io, path: string): Promise<unknown> {
  const [document, ...more] = await readDocuments(io, path);
  if (document !== undefined && more.length === 0) return document;
  throw new SignageError(
    'invalid_file',
    `${path === '-' ? 'stdin' : path} must hold one document, not ${more.length + (document === undefined ? 0 : 1)}.`,
  );
}
