import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { type Clock, iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { readBody } from '../../domain/json/read-body.ts';
import { maxObjectBytes } from './object-store.ts';
import type { S3Location } from './s3-location.ts';

/** AWS credentials. Temporary credentials have a session token. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface S3Call {
  method: 'GET' | 'PUT' | 'DELETE';
  /** Path below the bucket. */
  path: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  signal: AbortSignal;
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

/**
 * Signs a request with AWS Signature Version 4. The signature covers the body, so S3 rejects a body
 * changed in transit.
 */
export async function signRequest(
  { method, headers = {}, body }: Pick<S3Call, 'method' | 'headers' | 'body'>,
  url: string,
  { region, credentials, nowMs, signingKeys = new Map() }: SigningContext,
): Promise<{ url: URL; headers: Record<string, string> }> {
  const contents = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const signer = new AwsV4Signer({
    ...credentials,
    method,
    url,
    region,
    service: 's3',
    cache: signingKeys,
    headers: { ...headers, 'x-amz-content-sha256': contents },
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

export interface S3Client {
  /**
   * Sends one request to the endpoint, without retries and without following redirects. Throws
   * `object_store_unreachable`.
   */
  send(call: S3Call): Promise<S3Answer>;
  close(): Promise<void>;
}

/** Creates a client for one bucket. `clock` dates the signatures. */
export function makeS3Client(
  { name, bucketUrl, region }: S3Location,
  credentials: S3Credentials,
  clock: Clock,
): S3Client {
  // The client has no time-outs, because the caller's `signal` ends a call in any phase.
  const dispatcher = new Agent({ connect: { timeout: 0 }, headersTimeout: 0, bodyTimeout: 0 });
  const signingKeys = new Map<string, ArrayBuffer>();
  return {
    async send({ path, query, signal, ...call }) {
      const target = `${bucketUrl}${path}${query ? `?${new URLSearchParams(query)}` : ''}`;
      try {
        const { url, headers } = await signRequest(call, target, {
          region,
          credentials,
          nowMs: clock.now(),
          signingKeys,
        });
        const response = await request(url, {
          method: call.method,
          headers,
          body: call.body ?? null,
          signal,
          dispatcher,
        });
        const body = await readObject(response);
        return {
          status: response.statusCode,
          headers: response.headers,
          body,
          code: errorCode(response.statusCode, body),
        };
      } catch (cause) {
        const { message } = cause as Error;
        throw new SignageError(
          'object_store_unreachable',
          `${name} cannot be reached: ${message}`,
          { cause },
        );
      }
    },
    close: () => dispatcher.destroy(),
  };
}
