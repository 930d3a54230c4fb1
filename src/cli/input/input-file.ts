import { isUtf8 } from 'node:buffer';
import { SignageError } from '../../domain/error.ts';
import type { Io } from '../terminal/io.ts';
import { decodeText } from './decode-text.ts';
import { unusableFile } from './file-error.ts';
import { readRegularBytes } from './read-file.ts';
import { usage } from './settings.ts';
import type { SourceDocument } from './source-document.ts';
import { findWrittenPath } from './written-path.ts';

/**
 * Returns the path of the file that a person named, maybe as another system does. stdin and paths
 * that name no file are unchanged.
 */
export const foundInput = (path: string): Promise<string> =>
  path === '-' ? Promise.resolve(path) : findWrittenPath(path).catch(() => path);

async function readBytes(io: Io, path: string): Promise<Uint8Array> {
  if (path === '-' || path === '/dev/stdin') {
    if (io.stdin.isTTY) throw usage(`The file ${path} is stdin, and nothing is piped in.`);
    return io.stdin.bytes();
  }
  try {
    return await readRegularBytes(path);
  } catch (error) {
    throw unusableFile(error, path);
  }
}

/** No text that the command line reads is invalid UTF-8, or begins with `<` as SVG and HTML do. */
const mayBeMedia = (bytes: Uint8Array) => !isUtf8(bytes) || bytes[0] === '<'.charCodeAt(0);

const showFile = 'To put it on a screen: signage show VENUE/SCREEN FILE';

/** Throws `invalid_file` for a picture, a video or another file that is no text. */
async function refuseMedia(bytes: Uint8Array, file: string): Promise<void> {
  const { Examiner } = await import('../../media/examination/examiner.ts');
  const examiner = new Examiner();
  const { format } = await examiner
    .examine({ head: bytes, isWhole: true })
    .finally(() => examiner.close());
  const isBinary = bytes.includes(0) && ![0xfe, 0xff].includes(bytes[0] ?? 0);
  if (format === undefined && !isBinary) return;
  const hint =
    format === undefined || format.kind === 'other'
      ? 'Give a text file in UTF-8. Save a spreadsheet as CSV.'
      : showFile;
  const what = format?.name ?? 'a binary file';
  throw new SignageError('invalid_file', `${file} is ${what}, not a text file.`, { hint });
}

/**
 * Returns the text of a file, or of stdin for `-` and `/dev/stdin`. Throws `invalid_file` for a
 * wrong encoding. `isSecret`: errors quote nothing of the text.
 */
export async function readInput(
  io: Io,
  path: string,
  { isSecret = false }: { isSecret?: boolean } = {},
): Promise<string> {
  const file = path === '-' ? 'stdin' : path;
  const bytes = await readBytes(io, path);
  if (mayBeMedia(bytes)) await refuseMedia(bytes, file);
  return decodeText(bytes, { file, isSecret });
}

/**
 * Returns the only document of a YAML or JSON file (`-` for stdin). Throws `invalid_file` for a
 * syntax error, with its position, and for a file without exactly one document.
 */
export async function readSource(io: Io, given: string): Promise<SourceDocument> {
  const path = await foundInput(given);
  const text = await readInput(io, path);
  const { parseDocuments } = await import('./source-document.ts');
  const documents = parseDocuments(text, path);
  const [document] = documents;
  if (document && documents.length === 1) return document;
  throw new SignageError(
    'invalid_file',
    documents.length === 0
      ? `${path === '-' ? 'stdin' : path} is empty: it must contain one document.`
      : `${path === '-' ? 'stdin' : path} must contain one document, not ${documents.length}.`,
  );
}
