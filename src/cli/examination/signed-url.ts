import { smallest } from '../../domain/numbers/extremes.ts';
import { span } from '../terminal/text.ts';
import { error, type MediaProblem, warning } from './finding.ts';

/** Parses `20261124T120000Z`. */
function basicTimeMs(text: string | null): number {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(text ?? '') ?? [];
  return Date.parse(
    `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`,
  );
}

/** Parses Unix epoch seconds. */
const epochMs = (text: string | null | undefined) =>
  /^\d{9,11}$/.test(text ?? '') ? Number(text) * 1000 : Number.NaN;

/** The end in a custom policy of CloudFront, which is Base64 with replaced characters. */
function policyEndMs(text: string | null): number {
  const encoded = (text ?? '').replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/');
  const policy = Buffer.from(encoded, 'base64').toString();
  return epochMs(/"DateLessThan"\s*:\s*\{\s*"AWS:EpochTime"\s*:\s*(\d+)/.exec(policy)?.[1]);
}

/** The end in a token of a CDN: `exp=1760000000~acl=/*~hmac=…`. */
const tokenEndMs = (search: string) =>
  epochMs(/(?:^|[?&=~]|%7e)exp(?:=|%3d)(\d{9,11})/i.exec(search)?.[1]);

/**
 * Returns the time at which a signed URL expires, in Unix epoch milliseconds. Returns `undefined`
 * for other URLs. Knows Amazon S3 and CloudFront, Google Cloud Storage, Azure Blob Storage, and the
 * tokens of Akamai and Fastly.
 */
export function signedUntil({ searchParams, search }: URL): number | undefined {
  const parameters = new Map([...searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  const get = (name: string) => parameters.get(name) ?? null;
  const signedFor = (prefix: string) =>
    basicTimeMs(get(`${prefix}-date`)) + Number(get(`${prefix}-expires`) ?? Number.NaN) * 1000;
  const ends = [
    signedFor('x-amz'),
    signedFor('x-goog'),
    get('sig') === null ? Number.NaN : Date.parse(get('se') ?? ''),
    epochMs(get('expires')),
    policyEndMs(get('policy')),
    tokenEndMs(search),
  ].filter((end) => !Number.isNaN(end));
  return ends.length === 0 ? undefined : smallest(ends);
}

/**
 * Checks whether a signed URL lasts as long as the playlist.
 *
 * @param validUntilMs end of the playlist; `Infinity`: it has none
 */
export function expiryProblem(
  url: URL,
  nowMs: number,
  validUntilMs: number,
): MediaProblem | undefined {
  const end = signedUntil(url);
  if (end === undefined || end >= validUntilMs) return undefined;
  const advice = 'Sign the URL for longer, or let validUntil of the playlist end before it.';
  if (end <= nowMs) {
    return error('expires', {
      detail: `The signed URL expired ${span(nowMs - end)} ago.`,
      effect: 'A TV without a copy cannot load the item.',
      advice,
    });
  }
  const playlistEnd =
    validUntilMs === Number.POSITIVE_INFINITY
      ? 'the playlist has no end'
      : `the playlist ends ${span(validUntilMs - end)} later`;
  return warning('expires', {
    detail: `The signed URL expires in ${span(end - nowMs)}, and ${playlistEnd}.`,
    effect: 'A TV that loads the item after that gets nothing.',
    advice,
  });
}
