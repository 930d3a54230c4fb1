import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { type Clock, iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { countInformational } from '../../domain/informational-answers.ts';
import { readBody } from '../../domain/json/read-body.ts';
import { maxObjectBytes } from './object-store.ts';
import type { S3Location } from './s3-location.ts';

/** AWS credentials. Temporary credentials have a session token. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** A body that is read once, while it is sent. */
interface S3Content {
  chunks: AsyncIterable<Uint8Array>;
  size: number;
  /** The SHA-256 of all chunks in hex, which S3 then checks. `undefined` if it is not known. */
  sha256: string | undefined;
}

export interface S3Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Path below the bucket. */
  path: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | S3Content;
  signal?: AbortSignal;
}

export interface S3Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `undefined` if the body was larger than `maxObjectBytes`. */
  body: Buffer | undefined;
  /** The `Code` of an S3 error document. `undefined` if the body is not such a document. */
  code: string | undefined;
}

interface SigningContext {
  region: string;
  credentials: S3Credentials;
  nowMs: number;
  /** Cache of derived signing keys, one per day. */
  signingKeys?: Map<string, ArrayBuffer>;
}

/** An answer whose body is not read yet, unless it is an error. */
interface S3Stream extends Omit<S3Answer, 'body'> {
  /** `undefined` for an error. */
  body: Readable | undefined;
}

const isContent = (body: S3Call['body']): body is S3Content =>
  body !== undefined && 'chunks' in body;

/**
 * Signs a request with AWS Signature Version 4. The signature covers the body if its SHA-256 is
 * known, so S3 rejects a body changed in transit.
 */
export async function signRequest(
  { method, headers = {}, body }: Pick<S3Call, 'method' | 'headers' | 'body'>,
  url: string,
  { region, credentials, nowMs, signingKeys = new Map() }: SigningContext,
): Promise<{ url: URL; headers: Record<string, string> }> {
  const contents = isContent(body)
    ? (body.sha256 ?? 'UNSIGNED-PAYLOAD')
    : createHash('sha256')
        .update(body ?? '')
        .digest('hex');
  const length = isContent(body) && { 'content-length': String(body.size) };
  const signer = new AwsV4Signer({
    ...credentials,
    method,
    url,
    region,
    service: 's3',
    cache: signingKeys,
    headers: { ...headers, ...length, 'x-amz-content-sha256': contents },
    datetime: iso(nowMs).replaceAll(/[:-]|\.\d{3}/g, ''),
    // Signs all headers, including `Range`, as AWS does in its examples.
    allHeaders: true,
  });
  const request = await signer.sign();
  return { url: request.url, headers: Object.fromEntries(request.headers) };
}

async function readObject({ body, headers }: Dispatcher.ResponseData): Promise<Buffer | undefined> {
  const isTooLarge = Number(headers['content-length'] ?? 0) > maxObjectBytes;
  const bytes = isTooLarge ? undefined : await readBody(body, maxObjectBytes);
  if (!bytes) body.on('error', () => {}).destroy();
  return bytes;
}

function errorCode(status: number, body: Buffer | undefined): string | undefined {
  if (status < 300) return undefined;
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(
    body?.subarray(0, 64 * 1024).toString() ?? '',
  )?.[1];
}

/** Returns advice for the operator about an unexpected response. */
function advice({ status, headers, code }: Omit<S3Answer, 'body'>): string {
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

/** Returns the error for an unexpected answer of the bucket with this name. */
export function refusedError(
  name: string,
  method: string,
  answer: Omit<S3Answer, 'body'>,
): SignageError {
  const reason = answer.code === undefined ? `${answer.status}` : `${answer.status} ${answer.code}`;
  return new SignageError(
    'object_store_refused',
    `${name} answered ${reason} to ${method}.${advice(answer)}`,
  );
}

/** A 404 without the code `NoSuchKey` may come from a proxy in between. */
export const isMissing = ({ status, code }: Pick<S3Answer, 'status' | 'code'>) =>
  status === 404 && code === 'NoSuchKey';

export interface S3Client {
  /**
   * Sends one request to the endpoint, without retries and without following redirects. Throws
   * `object_store_unreachable`.
   */
  send(call: S3Call): Promise<S3Answer>;
  /** Like `send`, but leaves the body of a success to the caller, who must read or destroy it. */
  open(call: S3Call): Promise<S3Stream>;
  close(): Promise<void>;
}

/**
 * Creates a client for one bucket. `clock` dates the signatures.
 *
 * @param timeoutMs longest wait for the next bytes of an answer. 0: none, because the `signal` of
 * each call ends it in any phase
 */
export function makeS3Client(
  { name, bucketUrl, region }: S3Location,
  credentials: S3Credentials,
  clock: Clock,
  timeoutMs = 0,
): S3Client {
  const dispatcher = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const signingKeys = new Map<string, ArrayBuffer>();

  async function reached<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const { message } = cause as Error;
      throw new SignageError('object_store_unreachable', `${name} cannot be reached: ${message}`, {
        cause,
      });
    }
  }

  async function begin({ path, query, signal, ...call }: S3Call) {
    const target = `${bucketUrl}${path}${query ? `?${new URLSearchParams(query)}` : ''}`;
    const { url, headers } = await signRequest(call, target, {
      region,
      credentials,
      nowMs: clock.now(),
      signingKeys,
    });
    const body = isContent(call.body) ? Readable.from(call.body.chunks) : call.body;
    return request(url, {
      method: call.method,
      headers,
      body: body ?? null,
      signal,
      dispatcher,
      onInfo: countInformational(),
    });
  }

  async function read(response: Dispatcher.ResponseData): Promise<S3Answer> {
    const { statusCode: status, headers } = response;
    const body = await readObject(response);
    return { status, headers, body, code: errorCode(status, body) };
  }

  return {
    send: (call) => reached(async () => read(await begin(call))),
    open: (call) =>
      reached(async () => {
        const response = await begin(call);
        const { statusCode: status, headers, body } = response;
        if (status >= 300) return { ...(await read(response)), body: undefined };
        return { status, headers, body, code: undefined };
      }),
    close: () => dispatcher.destroy(),
  };
}
