import { SignageError } from '../../domain/error.ts';
import { operatorUrl } from '../on-demand/operator-url.ts';

/** Where a bucket is. */
export interface S3Location {
  /** Names the place to people, without anything secret. */
  name: string;
  /** Keys are put behind it; ends with `/`. */
  bucketUrl: string;
  /** In front of all keys: empty, or ending with `/`. */
  prefix: string;
  region: string;
}

const form = 's3://bucket/prefix?endpoint=https://…&region=…&addressing=path';
/** Said without the text itself: it may be that somebody wrote a secret into it. */
const wrong = (what: string) =>
  new SignageError('invalid_option', `The object store’s URL ${what}. It is written as ${form}.`);

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that need no encoding anywhere on the way; no empty part, and none that a URL would resolve. */
const prefixForm = /^(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/|$))*$/;
const regionForm = /^[a-z0-9-]{1,64}$/;
const parameters = ['endpoint', 'region', 'addressing'];

function readEndpoint(text: string): URL {
  const url = operatorUrl(text, 'The endpoint of the object store');
  if (url.search) throw wrong('must name an endpoint without a query');
  return url;
}

function bucketUrl(bucket: string, endpoint: URL, addressing: string): string {
  const path = endpoint.pathname.replace(/\/+$/, '');
  if (addressing === 'path') return `${endpoint.origin}${path}/${bucket}/`;
  return `${endpoint.protocol}//${bucket}.${endpoint.host}${path}/`;
}

/**
 * Reads `s3://bucket/prefix?endpoint=…&region=…&addressing=path|virtual-host`. Given no endpoint it is AWS; addressing is then `virtual-host` (unless the
 * bucket's name has dots, which no certificate fits), and `path` for all others. Throws `invalid_option`.
 *
 * @param region where the URL names none
 */
export function readS3Location(text: string, region: string | undefined): S3Location {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw wrong('cannot be read');
  if (url.username || url.password || url.port) {
    throw wrong(
      'must not hold credentials: they come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  const bucket = url.hostname;
  if (!bucketName.test(bucket)) throw wrong('must name a bucket');
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  if (!prefixForm.test(prefix)) throw wrong('must have a prefix of letters, digits and . _ - /');
  if (url.hash || [...url.searchParams.keys()].some((name) => !parameters.includes(name)))
    throw wrong('has a parameter that is not known');
  const inRegion = url.searchParams.get('region') ?? region ?? 'us-east-1';
  if (!regionForm.test(inRegion)) throw wrong('must name a region such as eu-central-1');
  const given = url.searchParams.get('endpoint');
  const endpoint = readEndpoint(given ?? `https://s3.${inRegion}.amazonaws.com`);
  const addressing =
    url.searchParams.get('addressing') ??
    (given !== null || bucket.includes('.') ? 'path' : 'virtual-host');
  if (!['path', 'virtual-host'].includes(addressing))
    throw wrong('must say addressing=path or addressing=virtual-host');
  const base = bucketUrl(bucket, endpoint, addressing);
  return { name: base + prefix, bucketUrl: base, prefix: prefix && `${prefix}/`, region: inRegion };
}
