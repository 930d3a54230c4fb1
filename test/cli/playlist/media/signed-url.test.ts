import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiryProblem, signedUntil } from '../../../../src/cli/examination/signed-url.ts';

const endMs = Date.UTC(2026, 10, 24, 13);
const endSeconds = endMs / 1000;
const policy = Buffer.from(
  `{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":${endSeconds}}}}]}`,
)
  .toString('base64')
  .replaceAll('+', '-')
  .replaceAll('=', '_')
  .replaceAll('/', '~');

describe('signedUntil', () => {
  it.each([
    ['Amazon S3', '?X-Amz-Date=20261124T120000Z&X-Amz-Expires=3600&X-Amz-Signature=x'],
    ['Google Cloud Storage', '?X-Goog-Date=20261124T120000Z&X-Goog-Expires=3600'],
    ['lower case', '?x-amz-date=20261124T120000Z&x-amz-expires=3600'],
    ['Amazon S3, version 2', `?AWSAccessKeyId=x&Expires=${endSeconds}&Signature=x`],
    ['CloudFront', `?Expires=${endSeconds}&Signature=x&Key-Pair-Id=x`],
    ['CloudFront with a policy', `?Policy=${policy}&Signature=x&Key-Pair-Id=x`],
    ['Azure Blob Storage', '?sv=2025-01-05&se=2026-11-24T13%3A00%3A00Z&sig=x'],
    ['Akamai', `?hdnts=st=1600000000~exp=${endSeconds}~acl=/*~hmac=x`],
    ['Akamai, encoded', `?hdnts=st%3D1600000000%7Eexp%3D${endSeconds}%7Ehmac%3Dx`],
    ['Fastly', `?exp=${endSeconds}&sig=x`],
  ])('is the end of a URL of %s', (_, query) => {
    expect(signedUntil(new URL(`https://cdn.example/a.mp4${query}`))).toBe(endMs);
  });

  it.each([
    '',
    '?v=1760000000',
    '?expires=soon',
    '?se=2026-11-24T13:00:00Z',
    '?X-Amz-Date=20261124T120000Z',
    '?X-Amz-Expires=3600',
    '?Policy=%00',
    '?exp=1',
  ])('is undefined for %j', (query) => {
    expect(signedUntil(new URL(`https://cdn.example/a.mp4${query}`))).toBeUndefined();
  });

  it('never throws', () => {
    const names = fc.constantFrom('x-amz-date', 'x-amz-expires', 'se', 'sig', 'policy', 'expires');
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.string())), (parameters) => {
        const url = new URL('https://cdn.example/a.mp4');
        for (const [name, value] of parameters) url.searchParams.append(name, value);
        signedUntil(url);
      }),
    );
  });
});

describe('expiryProblem', () => {
  const hourMs = 3_600_000;
  const url = new URL(`https://cdn.example/a.mp4?Expires=${endSeconds}&Signature=x`);

  it.each([
    ['0 h after the playlist', endMs - hourMs, endMs, undefined],
    [
      'before the playlist',
      endMs - hourMs,
      endMs + 22 * hourMs,
      'in 1 h, and the playlist ends 22 h later.',
    ],
    [
      'with a playlist without an end',
      endMs - hourMs,
      Number.POSITIVE_INFINITY,
      'in 1 h, and the playlist has no end.',
    ],
    ['in the past', endMs + hourMs, endMs + 22 * hourMs, 'expired 1 h ago.'],
  ])('of a URL that ends %s', (_, nowMs, validUntilMs, detail) => {
    const problem = expiryProblem(url, nowMs, validUntilMs);
    if (detail === undefined) expect(problem).toBeUndefined();
    else
      expect(problem).toMatchObject({
        level: nowMs < endMs ? 'warning' : 'error',
        detail: expect.stringContaining(detail),
      });
  });
});
