import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { parseJson } from '../../domain/json/parse-json.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { badAnswer } from './content.ts';
import { onDemandUrl } from './url.ts';

const mostBytes = 1024 * 1024;
const retryAfterMs = 100;
/** The same statuses after which a TV tries again: whoever said them has done nothing. */
const worthRetrying = new Set([502, 503, 504]);

export interface OnDemandHttpOptions {
  /** A template, such as `https://ads.example/playlists/{screenId}`. */
  url: string;
  /** Sent as a bearer token. */
  token?: string | undefined;
  /** The most connections at a time. */
  connections: number;
  connectTimeoutMs: number;
  clock: Clock;
}

/** The source behind a URL: GET, JSON, no redirects followed. Throws `invalid_option` for a URL that is none. */
export function onDemandHttp({
  url,
  token,
  connections,
  connectTimeoutMs,
  clock,
}: OnDemandHttpOptions) {
  const { origin, pathOf } = onDemandUrl(url);
  // Their caller's signal ends requests, by the clock that it was given.
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };

  async function request(path: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      return await pool.request({ method: 'GET', path, headers, signal });
    } catch (cause) {
      throw new SignageError(
        'origin_unreachable',
        `The source cannot be reached: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }

  async function once(path: string, signal: AbortSignal): Promise<unknown> {
    const { statusCode: status, body } = await request(path, signal);
    if (status === 200) return parse(await readBody(body));
    await body.dump({ limit: mostBytes, signal });
    if (status === 204 || status === 404) return null;
    throw new SignageError('origin_status', `The source answered ${status}.`, { status });
  }

  return {
    /** What the source says of a screen: the JSON of its answer, `null` for 204 and 404. Tried once more after a failure that did nothing. */
    async ask(screen: Screen, signal: AbortSignal): Promise<unknown> {
      const path = pathOf(screen);
      try {
        return await once(path, signal);
      } catch (error) {
        if (!isWorthRetrying(error) || signal.aborted) throw error;
        await pause(clock, signal);
        return once(path, signal);
      }
    },
    close: () => pool.destroy(),
  };
}

function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof SignageError)) return false;
  return error.code === 'origin_unreachable' || worthRetrying.has(error.status ?? 0);
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(retryAfterMs, resolve);
    signal.addEventListener(
      'abort',
      () => {
        cancel();
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

/** Counts while it reads: what a length promises is not believed. */
async function readBody(body: Dispatcher.ResponseData['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > mostBytes) throw badAnswer(`it has more than ${mostBytes} bytes.`);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof SignageError) throw cause;
    throw new SignageError(
      'origin_unreachable',
      `The source broke off: ${(cause as Error).message}.`,
      { cause },
    );
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): unknown {
  let json: unknown;
  try {
    ({ json } = parseJson(bytes));
  } catch (cause) {
    throw badAnswer((cause as Error).message, cause);
  }
  if (json === null)
    throw badAnswer('null says nothing: answer 204 or 404 when there is no playlist.');
  return json;
}
