import type { KeyPage } from './object-store.ts';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const unescapeXml = (text: string) =>
  text.replaceAll(
    /&(?:(amp|lt|gt|quot|apos)|#x([0-9a-f]{1,6})|#(\d{1,7}));/gi,
    (whole, name?: string, hex?: string, decimal?: string) => {
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return name === undefined
        ? point <= 0x10ffff
          ? String.fromCodePoint(point)
          : whole
        : (entities[name.toLowerCase()] ?? whole);
    },
  );

/**
 * Yields the contents of all elements with this name. Takes linear time, even if the document is
 * malformed.
 */
function* elements(xml: string, name: string): Generator<string> {
  const open = `<${name}>`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0; ) {
    const start = at + open.length;
    const end = xml.indexOf(close, start);
    if (end < 0) return;
    yield xml.slice(start, end);
    at = xml.indexOf(open, end + close.length);
  }
}

/** Returns the text of the first element with this name that contains only text. */
function textOf(xml: string, name: string): string | undefined {
  for (const text of elements(xml, name)) if (!text.includes('<')) return text;
  return undefined;
}

/** A page of a listing. `folders` are common prefixes, if the request had a delimiter. */
export interface S3Page extends KeyPage {
  folders: string[];
}

/**
 * Parses a response of ListObjectsV2. Returns `undefined` if the response is invalid. It needs no
 * XML parser, because S3 never nests these elements in elements of the same name.
 */
export function readS3Listing(xml: string): S3Page | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>'))
    return undefined;
  const textsOf = (outer: string, name: string) =>
    [...elements(xml, outer)].flatMap((inner) => textOf(inner, name) ?? []).map(unescapeXml);
  const keys = textsOf('Contents', 'Key');
  const folders = textsOf('CommonPrefixes', 'Prefix');
  const isTruncated = textOf(xml, 'IsTruncated')?.trim() === 'true';
  const token = textOf(xml, 'NextContinuationToken');
  if (isTruncated && !token) return undefined;
  return { keys, folders, next: isTruncated && token ? unescapeXml(token) : null };
}
