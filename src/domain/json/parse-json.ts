import { invalid, SignageError } from '../error.ts';
import { scanFlat } from './fast-scan.ts';
import { type FullScan, type JsonScan, scanJson } from './scan.ts';

/** Deeper JSON than this is refused: no program of ours sends it, and every recursion over it stays harmless. */
const deepest = 64;
const proto = '__proto__';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON text from outside, and what it says. */
export interface ParsedJson {
  json: unknown;
  scan: JsonScan;
}

const badJson = (why: string, cause?: unknown) =>
  new SignageError('invalid_json', `The body is not JSON: ${why}.`, { cause });

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

/** Drops each member named `__proto__`, however it is spelt. The second argument of `JSON.parse` would take three times as long. */
function dropProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value) dropProto(element);
    return;
  }
  if (Object.hasOwn(value, proto)) Reflect.deleteProperty(value, proto);
  for (const name in value) dropProto(value[name as keyof typeof value]);
}

/** In one pass, where the text is of the kind that this can tell: JSON of programs, in ASCII, without escapes. */
function parsePlain(text: string, bytes: Uint8Array): ParsedJson | undefined {
  if (
    !text.startsWith('[{') ||
    text.length !== bytes.length ||
    text.includes('\\') ||
    text.includes(proto)
  )
    return undefined;
  try {
    const json: unknown = JSON.parse(text);
    const scan = scanFlat(json, text);
    return scan && { json, scan };
  } catch {
    // What is wrong with it is said the other way.
    return undefined;
  }
}

function checkParts({ containers, members }: FullScan, mostParts: number): void {
  if (containers + members <= mostParts) return;
  throw invalid([
    { path: '', message: `must have at most ${mostParts} objects, arrays and members in all` },
  ]);
}

/**
 * Parses JSON that others have sent (docs/protocol.md §1.1). Throws `invalid_json`, and `invalid_request` for JSON with more than `mostParts` objects, arrays
 * and members. They are counted before anything is made of them: that takes a tenth of the time.
 */
export function parseJson(bytes: Uint8Array, mostParts = Number.POSITIVE_INFINITY): ParsedJson {
  const text = decode(bytes);
  // A part takes two bytes at least.
  const plain = bytes.length <= 2 * mostParts ? parsePlain(text, bytes) : undefined;
  if (plain) return plain;
  const scan = scanJson(bytes);
  if (scan.depth > deepest) throw badJson(`it is nested more than ${deepest} deep`);
  checkParts(scan, mostParts);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw badJson('check its syntax', cause);
  }
  if (text.includes(proto) || text.includes('\\u00')) dropProto(json);
  return { json, scan };
}
