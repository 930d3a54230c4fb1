import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { KeyPage, ObjectStore } from './object-store.ts';
import { makeS3Client, type S3Answer, type S3Call, type S3Credentials } from './s3-client.ts';
import { readS3Listing } from './s3-listing.ts';
import type { S3Location } from './s3-location.ts';

/** What can be done about an answer that was not to be. */
function advice({ status, headers, code }: S3Answer): string {
  const region = headers['x-amz-bucket-region'];
  if (status >= 300 && status < 400) {
    const hint =
      typeof region === 'string' && /^[a-z0-9-]{1,64}$/.test(region)
        ? ` The bucket is in the region ${region}.`
        : '';
    return ` Redirects are not followed: name the right endpoint and region.${hint}`;
  }
  if (code === 'NoSuchBucket') return ' Make the bucket first.';
  if (status === 403)
    return ' Check the credentials, the clock, and that they allow to list the bucket and to read, write and delete objects.';
  return '';
}

/** Objects in a bucket of S3, or of what speaks its protocol. */
export function makeS3ObjectStore(
  location: S3Location,
  credentials: S3Credentials,
  clock: Clock,
): ObjectStore {
  const client = makeS3Client(location, credentials, clock);
  const { name, prefix } = location;
  let knowsConditions = true;

  function refused(call: Pick<S3Call, 'method'>, answer: S3Answer): SignageError {
    const told = answer.code === undefined ? `${answer.status}` : `${answer.status} ${answer.code}`;
    return new SignageError(
      'object_store_refused',
      `${name} answered ${told} to ${call.method}.${advice(answer)}`,
    );
  }

  async function ask(call: S3Call, ...good: ((answer: S3Answer) => boolean)[]): Promise<S3Answer> {
    const answer = await client.send(call);
    if (answer.status !== 200 && !good.some((fits) => fits(answer))) throw refused(call, answer);
    return answer;
  }

  // A 404 without this code may come from anything on the way.
  const isNone = ({ status, code }: S3Answer) => status === 404 && code === 'NoSuchKey';
  const isOtherwise = (answer: S3Answer) =>
    answer.status === 412 || answer.status === 409 || isNone(answer);
  const isUnknown = ({ status, code }: S3Answer) => status === 501 || code === 'NotImplemented';

  const put = (
    key: string,
    body: Uint8Array,
    condition: Record<string, string>,
    signal: AbortSignal,
  ) => {
    const headers = { 'content-type': 'application/json', ...condition };
    return ask(
      { method: 'PUT', path: prefix + key, headers, body, signal },
      isOtherwise,
      isUnknown,
    );
  };

  return {
    location: name,
    async get(key, signal) {
      const answer = await ask({ method: 'GET', path: prefix + key, signal }, isNone);
      if (isNone(answer)) return undefined;
      const { etag } = answer.headers;
      if (typeof etag !== 'string')
        throw new SignageError(
          'object_store_refused',
          `${name} answered without an ETag: that is no object store.`,
        );
      return { bytes: answer.body, etag };
    },
    async put(key, bytes, expected, signal) {
      const condition: Record<string, string> =
        expected === null ? { 'if-none-match': '*' } : { 'if-match': expected };
      let answer = await put(key, bytes, knowsConditions ? condition : {}, signal);
      if (isUnknown(answer) && knowsConditions) {
        knowsConditions = false;
        answer = await put(key, bytes, {}, signal);
      }
      if (answer.status !== 200 && !isOtherwise(answer)) throw refused({ method: 'PUT' }, answer);
      return answer.status === 200;
    },
    async delete(key, signal) {
      await ask(
        { method: 'DELETE', path: prefix + key, signal },
        ({ status }) => status === 204,
        isNone,
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
        throw new SignageError(
          'object_store_refused',
          `${name} answered with something that is no list.`,
        );
      return { keys: page.keys.map((key) => key.slice(prefix.length)), next: page.next };
    },
    close: client.close,
  };
}
