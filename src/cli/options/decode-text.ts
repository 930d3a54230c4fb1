import { isUtf8 } from 'node:buffer';
import { SignageError } from '../../domain/error.ts';
import { escapeControl } from '../terminal/escape.ts';
import { looksSecret } from './settings.ts';

/** Maximum length of the text that an error quotes before an invalid byte. */
const maxQuote = 40;

type Encoding = 'UTF-8' | 'UTF-16';

/** Text with replacement characters for invalid bytes. `invalidAt`: the offset of the first one. */
interface Decoded {
  encoding: Encoding;
  text: string;
  invalidAt: number | undefined;
}

function decodeUtf8(bytes: Buffer): Decoded {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return { encoding: 'UTF-8', text, invalidAt: undefined };
  const written = Buffer.from(text);
  let at = 0;
  while (written[at] === bytes[at]) at++;
  // The replacement character may begin with the same bytes as the invalid sequence.
  while ((Number(written[at]) & 0xc0) === 0x80) at--;
  return { encoding: 'UTF-8', text, invalidAt: at };
}

function decodeUtf16(bytes: Buffer, isBigEndian: boolean): Decoded {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  const raw = (isBigEndian ? even.swap16() : even).toString('utf16le');
  const loneAt = raw.isWellFormed() ? -1 : raw.search(/\p{Surrogate}/u);
  const oddAt = bytes.length > even.length ? even.length : undefined;
  const invalidAt = loneAt < 0 ? oddAt : 2 * loneAt;
  return { encoding: 'UTF-16', text: raw.toWellFormed(), invalidAt };
}

function decode(bytes: Buffer): Decoded {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeUtf16(bytes, false);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeUtf16(bytes, true);
  return decodeUtf8(bytes);
}

/** The readable text before an invalid byte in its line. Empty if it may contain a secret. */
function quoted(line: string): string {
  const text = [...line.trim()].slice(-maxQuote).join('');
  return text === '' || looksSecret(line) ? '' : ` after "${escapeControl(text)}"`;
}

interface TextSource {
  /** The name of the file in errors. */
  file: string;
  /** Whether errors must quote nothing of the text. */
  isSecret?: boolean;
}

/**
 * Decodes text from outside: UTF-8, or UTF-16 with a byte order mark. Removes the byte order mark.
 * Throws `invalid_file` for invalid bytes, with the offset and the line of the first one.
 */
export function decodeText(content: Uint8Array, { file, isSecret = false }: TextSource): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const { encoding, text, invalidAt } = decode(bytes);
  if (invalidAt === undefined) return text.replace(/^\ufeff/, '');
  const before = decode(bytes.subarray(0, invalidAt)).text.replace(/^\ufeff/, '');
  const lines = before.split(/\r\n|\r|\n/);
  const place = `byte ${invalidAt}, in line ${lines.length}`;
  const quote = isSecret ? '' : quoted(lines.at(-1) ?? '');
  throw new SignageError(
    'invalid_file',
    `${file} is not ${encoding}: ${place}${quote}. Save it as UTF-8, in Excel as "CSV UTF-8".`,
  );
}
