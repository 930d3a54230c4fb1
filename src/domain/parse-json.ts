import { SignageError } from './error.ts';
import { scanFlat } from './flat-scan.ts';
import { type JsonScan, scanJson } from './json-scan.ts';

/** Deeper JSON than this is refused: no program of ours sends it, and every recursion over it stays harmless. */
const deepest = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON text from outside, and what it says. */
export interface ParsedJson {
  json: unknown;
  scan: JsonScan;
}

const badJson = (why: string, cause?: unknown) => new SignageError('invalid_json', `The body is not JSON: ${why}.`, { cause });

function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw badJson('it is not well-formed UTF-8', cause);
  }
  if (text.startsWith('\ufeff')) throw badJson('it begins with a byte order mark');
  return text;
}

/** A member named `__proto__` is never made: it is dropped, wherever it stands, however it is spelt. */
function withoutProto(name: string, value: unknown): unknown {
  return name === '__proto__' ? undefined : value;
}

/** In one pass, where the text is of the kind that this can tell: JSON of programs, in ASCII, without escapes. */
function parsePlain(text: string, bytes: Uint8Array): ParsedJson | undefined {
  if (!text.startsWith('[{') || text.length !== bytes.length || text.includes('\\') || text.includes('__proto__')) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    const scan = scanFlat(json, text);
    return scan && { json, scan };
  } catch {
    // What is wrong with it is said the other way.
    return undefined;
  }
}

/** Parses JSON that others have sent (docs/protocol.md §1.1); throws `invalid_json`. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const text = decode(bytes);
  const plain = parsePlain(text, bytes);
  if (plain) return plain;
  const scan = scanJson(bytes);
  if (scan.depth > deepest) throw badJson(`it is nested more than ${deepest} deep`);
  try {
    const mayHaveProto = text.includes('__proto__') || text.includes('\\u00');
    const json = mayHaveProto ? JSON.parse(text, withoutProto) : JSON.parse(text);
    return { json, scan };
  } catch (cause) {
    throw badJson('check its syntax', cause);
  }
}
