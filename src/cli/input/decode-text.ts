import { SignageError } from '../../domain/error.ts';
import { escapeControl } from '../terminal/escape.ts';
import { looksSecret } from './settings.ts';

/** Maximum length of the text that an error quotes before an invalid byte. */
const maxQuote = 40;

function encodingOf([first, second]: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
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
 * Throws `invalid_file` for invalid bytes, with the line of the first one.
 */
export function decodeText(content: Uint8Array, { file, isSecret = false }: TextSource): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    const [before = ''] = new TextDecoder(encoding).decode(bytes).split('\ufffd', 1);
    const lines = before.split(/\r\n|\r|\n/);
    const quote = isSecret ? '' : quoted(lines.at(-1) ?? '');
    throw new SignageError(
      'invalid_file',
      `${file} is not ${encoding.startsWith('utf-16') ? 'UTF-16' : 'UTF-8'}: line ${lines.length}${quote}. Save it as UTF-8, in Excel as "CSV UTF-8".`,
    );
  }
}
