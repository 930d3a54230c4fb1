import type { Readable } from 'node:stream';
import { type Clock, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { isMediaId } from '../domain/media/media.ts';
import { everyPage } from '../origin/object-store/every-page.ts';
import {
  isMissing,
  makeS3Client,
  refusedError,
  type S3Call,
  type S3Credentials,
} from '../origin/object-store/s3-client.ts';
import { readS3Listing, type S3Page } from '../origin/object-store/s3-listing.ts';
import type { S3Location } from '../origin/object-store/s3-location.ts';
import type { MediaStore } from './media-store.ts';

/** Longest wait for the next bytes of an answer. */
const timeoutMs = 30 * secondMs;

function unavailable(what: string, cause: unknown): SignageError {
  return new SignageError(
    'unavailable',
    `The bucket of the media cannot be ${what}. Nothing has changed. Retry later, or tell the operator.`,
    { cause, retryAfterSeconds: 30 },
  );
}

async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  return work().catch((cause) => {
    throw unavailable(what, cause);
  });
}

/**
 * Passes content on, and its last chunk only when the content has ended without an error: S3 keeps
 * an object as soon as it has all its bytes.
 */
async function* heldBack(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const chunk of content) {
    if (chunk.length === 0) continue;
    if (held) yield held;
    held = chunk;
  }
  if (held) yield held;
}

/** Reads a body, which is destroyed when the iterator is returned. */
function chunksOf(body: Readable): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => attempt('read', () => chunks.next()),
      async return() {
        body.on('error', () => {}).destroy();
        return { done: true, value: undefined };
      },
    }),
  };
}

/**
 * Creates a media store in a bucket of S3 or of a compatible service. The keys of its objects are
 * those of the media store, after the prefix of the location. S3 makes an object visible when it is
 * complete, and checks the SHA-256 of whole files.
 */
export function makeS3MediaStore(
  location: S3Location,
  credentials: S3Credentials,
  clock: Clock,
): MediaStore {
  const client = makeS3Client(location, credentials, clock, timeoutMs);
  const { name, prefix } = location;

  async function ask(call: S3Call) {
    const answer = await client.send(call);
    const isKnown = [200, 204].includes(answer.status) || isMissing(answer);
    if (!isKnown) throw refusedError(name, call.method, answer);
    return answer;
  }

  /** Lists all pages. A bucket that never comes to an end is no S3. */
  function pages(
    query: Record<string, string>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<S3Page> {
    const read = async (token: string | null): Promise<S3Page> => {
      signal?.throwIfAborted();
      const call: S3Call = {
        method: 'GET',
        path: '',
        query: { 'list-type': '2', ...query, ...(token && { 'continuation-token': token }) },
        ...(signal && { signal }),
      };
      return attempt('read', async () => {
        const answer = await ask(call);
        const listed = answer.body && readS3Listing(answer.body.toString());
        if (!listed) throw refusedError(name, call.method, answer);
        return listed;
      });
    };
    const endless = () => unavailable('read', new Error(`The list of ${name} does not end.`));
    return everyPage(read, endless);
  }

  return {
    async put(key, size, content) {
      let failure: { error: unknown } | undefined;
      async function* chunks() {
        try {
          yield* heldBack(content);
        } catch (error) {
          failure = { error };
          throw error;
        }
      }
      const ended = new AbortController();
      try {
        const sha256 = isMediaId(key) ? key : undefined;
        const body = { chunks: chunks(), size, sha256 };
        await ask({ method: 'PUT', path: prefix + key, body, signal: ended.signal });
      } catch (cause) {
        throw failure ? failure.error : unavailable('written', cause);
      } finally {
        // An error may have come before the end of the body.
        ended.abort();
      }
    },

    open: (key, range) =>
      attempt('read', async () => {
        const { body, ...answer } = await client.open({
          method: 'GET',
          path: prefix + key,
          ...(range && { headers: { range: `bytes=${range.start}-${range.end}` } }),
        });
        if (isMissing(answer) || answer.status === 416) return undefined;
        if (!body || answer.status !== (range ? 206 : 200)) {
          body?.on('error', () => {}).destroy();
          throw refusedError(name, 'GET', answer);
        }
        const length = Number(answer.headers['content-length']);
        if (!range || length === range.end + 1 - range.start) return chunksOf(body);
        body.on('error', () => {}).destroy();
        return undefined;
      }),

    find: (key) =>
      attempt('read', async () => {
        const call: S3Call = { method: 'HEAD', path: prefix + key };
        const answer = await client.send(call);
        // The answer to HEAD has no body, and so no code.
        if (answer.status === 404) return undefined;
        if (answer.status !== 200) throw refusedError(name, call.method, answer);
        return {
          key,
          bytes: Number(answer.headers['content-length']),
        };
      }),

    delete: (key) =>
      attempt('changed', async () => {
        await ask({ method: 'DELETE', path: prefix + key });
      }),

    async *list(start, signal) {
      for await (const { keys } of pages({ prefix: prefix + start }, signal))
        for (const key of keys) yield key.slice(prefix.length);
    },

    async *folders(folder, signal) {
      const start = prefix + folder;
      for await (const { folders } of pages({ prefix: start, delimiter: '/' }, signal))
        for (const name of folders) yield name.slice(start.length, -1);
    },

    // S3 keeps nothing of an object that was not completed.
    async sweep() {},

    close: () => client.close(),
  };
}
