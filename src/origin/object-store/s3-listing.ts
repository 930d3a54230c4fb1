import type { KeyPage } from './object-store.ts';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const plain = (text: string) =>
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

/** The texts of all elements with this name, in one pass: no part of the document is looked at twice, whatever is missing in it. */
function* elements(xml: string, name: string): Generator<string> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at >= 0; ) {
    const start = at + open.length;
    const end = xml.indexOf(close, start);
    if (end < 0) return;
    yield xml.slice(start, end);
    at = xml.indexOf(open, end + close.length);
  }
}

/** The text of the first such element that has nothing but text in it. */
function textOf(xml: string, name: string): string | undefined {
  for (const text of elements(xml, name)) if (!text.includes('<')) return text;
  return undefined;
}

/**
 * The keys in an answer of ListObjectsV2; `undefined` for what is none. Of this one document three members are of interest, in which S3 nests nothing: that
 * needs no XML parser.
 */
export function readS3Listing(xml: string): KeyPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>'))
    return undefined;
  const keys = [...elements(xml, 'Contents')]
    .flatMap((inner) => textOf(inner, 'Key') ?? [])
    .map(plain);
  const isTruncated = textOf(xml, 'IsTruncated')?.trim() === 'true';
  const token = textOf(xml, 'NextContinuationToken');
  if (isTruncated && !token) return undefined;
  return { keys, next: isTruncated && token ? plain(token) : null };
}
