import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { KeyPage, ObjectStore } from './object-store.ts';
import {
  isMissing,
  makeS3Client,
  refusedError,
  type S3Answer,
  type S3Call,
  type S3Credentials,
} from './s3-client.ts';
import { readS3Listing } from './s3-listing.ts';
import type { S3Location } from './s3-location.ts';

/** Creates an object store in a bucket of S3 or of a compatible service. */
export function makeS3ObjectStore(
  location: S3Location,
  credentials: S3Credentials,
  clock: Clock,
): ObjectStore {
  const client = makeS3Client(location, credentials, clock);
  const { name, prefix } = location;
  let supportsConditions = true;

  async function ask(
    call: S3Call,
    ...isAccepted: ((answer: S3Answer) => boolean)[]
  ): Promise<S3Answer> {
    const answer = await client.send(call);
    if (answer.status !== 200 && !isAccepted.some((accepts) => accepts(answer)))
      throw refusedError(name, call.method, answer);
    return answer;
  }

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
        throw refusedError(name, 'PUT', answer);
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
