import { SignageError } from '../../domain/error.ts';
import { operatorUrl } from '../on-demand/url.ts';

/** Location of a bucket. */
export interface S3Location {
  /** Displayable name, without secrets. */
  name: string;
  /** Base URL of keys. Ends with `/`. */
  bucketUrl: string;
  /** Prefix of all keys: empty, or ending with `/`. */
  prefix: string;
  region: string;
}

const syntax = 's3://bucket/prefix?endpoint=https://…&region=…&addressing=path';
/**
 * Returns the error for an invalid location. Its message does not repeat the URL, which may contain
 * a secret.
 */
const invalidOption = (what: string) =>
  new SignageError('invalid_option', `The object store’s URL ${what}. The syntax is ${syntax}.`);

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/**
 * Allows only characters that never need encoding. Rejects empty segments. Rejects `.` and `..`,
 * because URL parsers would resolve them.
 */
const prefixForm = /^(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/|$))*$/;
const regionForm = /^[a-z0-9-]{1,64}$/;
const parameters = ['endpoint', 'region', 'addressing'];

function readEndpoint(text: string): URL {
  const url = operatorUrl(text, 'The endpoint of the object store');
  if (url.search) throw invalidOption('must name an endpoint without a query');
  return url;
}

function bucketUrl(bucket: string, endpoint: URL, addressing: string): string {
  const path = endpoint.pathname.replace(/\/+$/, '');
  if (addressing === 'path') return `${endpoint.origin}${path}/${bucket}/`;
  return `${endpoint.protocol}//${bucket}.${endpoint.host}${path}/`;
}

/**
 * Parses `s3://bucket/prefix?endpoint=…&region=…&addressing=path|virtual-host`. Default
 * endpoint: AWS. Default addressing: `path` if the URL names an endpoint or the bucket name has
 * dots, else `virtual-host`. With dots in the bucket name, no certificate would cover the virtual
 * host name. Throws `invalid_option`.
 *
 * @param region default region, if the URL names none
 */
export function readS3Location(text: string, region: string | undefined): S3Location {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw invalidOption('cannot be read');
  if (url.username || url.password || url.port) {
    throw invalidOption(
      'must not hold credentials: they come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  const bucket = url.hostname;
  if (!bucketName.test(bucket)) throw invalidOption('must name a bucket');
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  if (!prefixForm.test(prefix))
    throw invalidOption('must have a prefix of letters, digits and . _ - /');
  if (url.hash || [...url.searchParams.keys()].some((name) => !parameters.includes(name)))
    throw invalidOption('has an unknown parameter');
  const inRegion = url.searchParams.get('region') ?? region ?? 'us-east-1';
  if (!regionForm.test(inRegion)) throw invalidOption('must name a region such as eu-central-1');
  const given = url.searchParams.get('endpoint');
  const endpoint = readEndpoint(given ?? `https://s3.${inRegion}.amazonaws.com`);
  const addressing =
    url.searchParams.get('addressing') ??
    (given !== null || bucket.includes('.') ? 'path' : 'virtual-host');
  if (!['path', 'virtual-host'].includes(addressing))
    throw invalidOption('must have addressing=path or addressing=virtual-host');
  const base = bucketUrl(bucket, endpoint, addressing);
  return { name: base + prefix, bucketUrl: base, prefix: prefix && `${prefix}/`, region: inRegion };
}
