import { invalid, SignageError } from '../error.ts';
import { type FullScan, type JsonScan, scanFlat, scanJson } from './scan.ts';

/** Maximum nesting of JSON. No real client sends more, and the limit keeps recursion safe. */
const maxDepth = 64;
const proto = '__proto__';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parsed JSON and its scan result. */
export interface ParsedJson {
  json: unknown;
  scan: JsonScan;
}

export const invalidJson = (why: string, cause?: unknown): SignageError =>
  new SignageError('invalid_json', `The body is not JSON: ${why}.`, { cause });

function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw invalidJson('it is not well-formed UTF-8', cause);
  }
  if (text.startsWith('\ufeff')) throw invalidJson('it begins with a byte order mark');
  return text;
}

/**
 * Removes each member named `__proto__`, even if the name is escaped. A reviver of `JSON.parse`
 * would take three times as long.
 */
function dropProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value) dropProto(element);
    return;
  }
  if (Object.hasOwn(value, proto)) Reflect.deleteProperty(value, proto);
  for (const name in value) dropProto(value[name as keyof typeof value]);
}

/**
 * Parses a compact list of flat objects in ASCII without escapes. Returns `undefined` for other
 * text.
 */
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
    // The general parser reports the error.
    return undefined;
  }
}

function checkParts({ containers, members }: FullScan, maxParts: number): void {
  if (containers + members <= maxParts) return;
  throw invalid([
    { path: '', message: `must have at most ${maxParts} objects, arrays and members in all` },
  ]);
}

/**
 * Parses untrusted JSON (docs/protocol.md §1.1). Throws `invalid_json`. Throws `invalid_request`
 * for JSON with more than `maxParts` objects, arrays and members. If the text is long enough for so
 * many, counts them before parsing. Counting takes a tenth of the time of parsing.
 */
export function parseJson(bytes: Uint8Array, maxParts = Number.POSITIVE_INFINITY): ParsedJson {
  const text = decode(bytes);
  // Each object, array or member takes at least two bytes.
  const plain = bytes.length <= 2 * maxParts ? parsePlain(text, bytes) : undefined;
  if (plain) return plain;
  const scan = scanJson(bytes);
  if (scan.depth > maxDepth) throw invalidJson(`it is nested more than ${maxDepth} deep`);
  checkParts(scan, maxParts);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalidJson('check its syntax', cause);
  }
  if (text.includes(proto) || text.includes('\\u00')) dropProto(json);
  return { json, scan };
}
