import type { KeyPage } from './object-store.ts';

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (text: string) =>
  text.replaceAll(/&(?:(amp|lt|gt|quot|apos)|#x([0-9a-f]{1,6})|#(\d{1,7}));/gi, (whole, name?: string, hex?: string, decimal?: string) => {
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return name === undefined ? (point <= 0x10ffff ? String.fromCodePoint(point) : whole) : (entities[name.toLowerCase()] ?? whole);
  });

/**
 * The keys in an answer of ListObjectsV2; `undefined` for what is none. Of this one document three members are of interest, in which S3 nests nothing: that
 * needs no XML parser.
 */
export function readS3Listing(xml: string): KeyPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>')) return undefined;
  const contents = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, inner]) => inner ?? '');
  const keys = contents.flatMap((inner) => /<Key>([^<]*)<\/Key>/.exec(inner)?.[1] ?? []).map(plain);
  const isTruncated = /<IsTruncated>\s*true\s*<\/IsTruncated>/.test(xml);
  const token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1];
  if (isTruncated && !token) return undefined;
  return { keys, next: isTruncated && token ? plain(token) : null };
}
