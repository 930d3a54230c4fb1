import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { KeyPage, ObjectStore } from './object-store.ts';
import { makeS3Client, type S3Answer, type S3Call, type S3Credentials } from './s3-client.ts';
import type { S3Location } from './s3-location.ts';

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

/**
 * Parses a response of ListObjectsV2. Returns `undefined` if the response is invalid. It needs no
 * XML parser, because S3 never nests these elements in elements of the same name.
 */
export function readS3Listing(xml: string): KeyPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>'))
    return undefined;
  const keys = [...elements(xml, 'Contents')]
    .flatMap((inner) => textOf(inner, 'Key') ?? [])
    .map(unescapeXml);
  const isTruncated = textOf(xml, 'IsTruncated')?.trim() === 'true';
  const token = textOf(xml, 'NextContinuationToken');
  if (isTruncated && !token) return undefined;
  return { keys, next: isTruncated && token ? unescapeXml(token) : null };
}

/** Returns advice for the operator about an unexpected response. */
function advice({ status, headers, code }: S3Answer): string {
  const region = headers['x-amz-bucket-region'];
  if (status >= 300 && status < 400) {
    const hint =
      typeof region === 'string' && /^[a-z0-9-]{1,64}$/.test(region)
        ? ` The bucket is in the region ${region}.`
        : '';
    return ` Redirects are not followed: configure the correct endpoint and region.${hint}`;
  }
  if (code === 'NoSuchBucket') return ' Create the bucket first.';
  if (status === 403)
    return ' Check the credentials, the clock, and the permissions to list the bucket and to read, write and delete objects.';
  return '';
}

/** Creates an object store in a bucket of S3 or of a compatible service. */
export function makeS3ObjectStore(
  location: S3Location,
  credentials: S3Credentials,
  clock: Clock,
): ObjectStore {
  const client = makeS3Client(location, credentials, clock);
  const { name, prefix } = location;
  let supportsConditions = true;

  function refusedError(call: Pick<S3Call, 'method'>, answer: S3Answer): SignageError {
    const reason =
      answer.code === undefined ? `${answer.status}` : `${answer.status} ${answer.code}`;
    return new SignageError(
      'object_store_refused',
      `${name} answered ${reason} to ${call.method}.${advice(answer)}`,
    );
  }

  async function ask(
    call: S3Call,
    ...isAccepted: ((answer: S3Answer) => boolean)[]
  ): Promise<S3Answer> {
    const answer = await client.send(call);
    if (answer.status !== 200 && !isAccepted.some((accepts) => accepts(answer)))
      throw refusedError(call, answer);
    return answer;
  }

  // A 404 without the code `NoSuchKey` may come from a proxy in between.
  const isMissing = ({ status, code }: S3Answer) => status === 404 && code === 'NoSuchKey';
  const isConditionFailed = (answer: S3Answer) =>
    answer.status === 412 || answer.status === 409 || isMissing(answer);
  const isUnsupported = ({ status, code }: S3Answer) => status === 501 || code === 'NotImplemented';

  const put = (
    key: string,
    body: Uint8Array,
    condition: Record<string, string>,
    signal: AbortSignal,
  ) => {
    const headers = { 'content-type': 'application/json', ...condition };
    return ask(
      { method: 'PUT', path: prefix + key, headers, body, signal },
      isConditionFailed,
      isUnsupported,
    );
  };

  return {
    async get(key, signal) {
      const answer = await ask({ method: 'GET', path: prefix + key, signal }, isMissing);
      if (isMissing(answer)) return undefined;
      const { etag } = answer.headers;
      if (typeof etag !== 'string')
        throw new SignageError(
          'object_store_refused',
          `${name} answered without an ETag: it is not an object store.`,
        );
      return { bytes: answer.body, etag };
    },
    async put(key, bytes, expected, signal) {
      const condition: Record<string, string> =
        expected === null ? { 'if-none-match': '*' } : { 'if-match': expected };
      let answer = await put(key, bytes, supportsConditions ? condition : {}, signal);
      if (isUnsupported(answer) && supportsConditions) {
        supportsConditions = false;
        answer = await put(key, bytes, {}, signal);
      }
      if (answer.status !== 200 && !isConditionFailed(answer))
        throw refusedError({ method: 'PUT' }, answer);
      return answer.status === 200;
    },
    async delete(key, signal) {
      await ask(
        { method: 'DELETE', path: prefix + key, signal },
        ({ status }) => status === 204,
        isMissing,
      );
    },
    async list(folder, after, signal): Promise<KeyPage> {
      const query = {
        'list-type': '2',
        prefix: `${prefix}${folder}/`,
        ...(after === null ? {} : { 'continuation-token': after }),
      };
      const { body } = await ask({ method: 'GET', path: '', query, signal });
      const page = body && readS3Listing(body.toString());
      if (!page)
        throw new SignageError('object_store_refused', `${name} answered with an invalid list.`);
      return { keys: page.keys.map((key) => key.slice(prefix.length)), next: page.next };
    },
    close: client.close,
  };
}
