import { describe, expect, it } from 'vitest';
import { readS3Listing } from '../../../src/origin/object-store/s3-listing.ts';

const listing = (inside: string) =>
  `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>\n`;

describe('parsing an answer of ListObjectsV2', () => {
  it('returns the keys of Contents and no others', () => {
    const xml = listing(
      '<Name>bucket</Name><Prefix>a/</Prefix><StartAfter><Key>no</Key></StartAfter>' +
        '<Contents><Key>a/1.json</Key><Owner><ID>x</ID></Owner></Contents>\n<Contents>\n  <ETag>"y"</ETag>\n  <Key>a/2.json</Key>\n</Contents>',
    );
    expect(readS3Listing(xml)).toEqual({ keys: ['a/1.json', 'a/2.json'], folders: [], next: null });
  });

  it('unescapes keys and token', () => {
    const odd =
      '<Contents><Key>&lt;&amp;&gt;&quot;&apos;&#228;&#x1F600;&unknown;&#x110000;</Key></Contents>';
    const more =
      '<IsTruncated>true</IsTruncated><NextContinuationToken>1&amp;2==</NextContinuationToken>';
    expect(readS3Listing(listing(odd + more))).toEqual({
      keys: ['<&>"\'ä😀&unknown;&#x110000;'],
      folders: [],
      next: '1&2==',
    });
  });

  it.each<[hostile: string, part: string]>([
    ['contents that never end', '<Contents>'],
    ['contents that only end', '</Contents>'],
    ['keys that never end', '<Contents><Key></Contents>'],
    ['keys in keys', '<Contents><Key><Key></Key></Contents>'],
    ['truncations that never end', '<IsTruncated>  true'],
    ['tokens that never end', '<NextContinuationToken>'],
    ['entities that never end', '&#x'],
    ['lists that never begin', '<ListBucketResult'],
    ['white space', '        '],
  ])('takes linear time: %s', (_, part) => {
    const took = (bytes: number) => {
      const xml = listing(part.repeat(bytes / part.length));
      const startedAt = performance.now();
      readS3Listing(xml);
      return performance.now() - startedAt;
    };
    // One pass takes milliseconds, a pass per element takes minutes. The small document fails
    // first, before the large one would take days.
    expect(took(1_000_000)).toBeLessThan(3_000);
    expect(took(4_000_000)).toBeLessThan(15_000);
  });

  it.each([
    ['nothing', ''],
    ['another document', '<Error><Code>x</Code></Error>'],
    ['half a list', listing('<Contents><Key>a</Key></Contents>').slice(0, -30)],
    ['a page that says there are more, and not where', listing('<IsTruncated>true</IsTruncated>')],
    ['a page', '<html><ListBucketResults></html>'],
  ])('is undefined for %s', (_, xml) => {
    expect(readS3Listing(xml)).toBeUndefined();
  });
});
