import { type Dispatcher, Pool } from 'undici';
import { type Clock, minuteMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { countInformational } from '../../domain/informational-answers.ts';
import { changedNumbers } from '../../domain/json/changed-numbers.ts';
import { parseJson } from '../../domain/json/parse-json.ts';
import { readBody } from '../../domain/json/read-body.ts';
import { jsonPointer } from '../../domain/json/schema-issue.ts';
import { type LogSink, silentLog } from '../../domain/log.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { userAgent } from '../../package/user-agent.ts';
import { badAnswer } from './content.ts';
import { onDemandUrl } from './url.ts';

const maxBytes = 1024 * 1024;
const retryDelayMs = 100;
const warnIntervalMs = minuteMs;
/** Statuses after which a retry may succeed. TVs also retry after these statuses. */
const retryableStatuses = new Set([502, 503, 504]);

export interface OnDemandHttpOptions {
  /** A URL template, such as `https://ads.example/playlists/{screenId}`. */
  url: string;
  /** Sent as a bearer token. */
  token?: string | undefined;
  /** Limit of connections. */
  connections: number;
  connectTimeoutMs: number;
  clock: Clock;
  /** Is told, at most once a minute, of numbers that lose digits. */
  log?: LogSink | undefined;
}

/**
 * Client of an on-demand source behind a URL. It sends GET requests, expects JSON, and does not
 * follow redirects. Throws `invalid_option` for an invalid URL.
 */
export function onDemandHttp({
  url,
  token,
  connections,
  connectTimeoutMs,
  clock,
  log = silentLog,
}: OnDemandHttpOptions) {
  const { origin, pathOf } = onDemandUrl(url);
  // The pool limits only the time to connect. The caller's signal ends requests by the given clock.
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = {
    accept: 'application/json',
    'user-agent': userAgent(),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };

  let warnedMs = Number.NEGATIVE_INFINITY;
  /** The playlist still plays: a source has nobody who reads a refusal. */
  function warnOfChanges(bytes: Uint8Array): void {
    const nowMs = clock.now();
    if (Math.abs(nowMs - warnedMs) < warnIntervalMs) return;
    const [changed] = changedNumbers(Buffer.from(bytes).toString());
    if (!changed) return;
    warnedMs = nowMs;
    log.warn(
      { member: jsonPointer(changed.path) },
      'A number of the on-demand source does not fit into a number of JSON, and loses digits: write it as text.',
    );
  }

  async function request(path: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      const onInfo = countInformational();
      return await pool.request({ method: 'GET', path, headers, signal, onInfo });
    } catch (cause) {
      throw new SignageError(
        'origin_unreachable',
        `The source cannot be reached: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }

  async function askOnce(path: string, signal: AbortSignal): Promise<unknown> {
    const { statusCode: status, body } = await request(path, signal);
    if (status === 200) {
      const bytes = await readOriginAnswer(body);
      const json = parse(bytes);
      warnOfChanges(bytes);
      return json;
    }
    await body.dump({ limit: maxBytes, signal });
    if (status === 204 || status === 404) return null;
    throw new SignageError('origin_status', `The source answered ${status}.`, { status });
  }

  return {
    /**
     * Returns the JSON with which the source answers for a screen, or `null` for 204 and 404.
     * Retries once after a failed connection, and after 502, 503 and 504.
     */
    async ask(screen: Screen, signal: AbortSignal): Promise<unknown> {
      const path = pathOf(screen);
      try {
        return await askOnce(path, signal);
      } catch (error) {
        if (!isRetryable(error) || signal.aborted) throw error;
        await new Promise<void>((resolve) => void clock.after(retryDelayMs, resolve));
        signal.throwIfAborted();
        return askOnce(path, signal);
      }
    },
    close: () => pool.destroy(),
  };
}

function isRetryable(error: unknown): boolean {
  if (!(error instanceof SignageError)) return false;
  return error.code === 'origin_unreachable' || retryableStatuses.has(error.status ?? 0);
}

/** Counts the bytes while it reads, because Content-Length is not trusted. */
async function readOriginAnswer(body: Dispatcher.ResponseData['body']): Promise<Uint8Array> {
  const bytes = await readBody(body, maxBytes).catch((cause: Error) => {
    throw new SignageError(
      'origin_unreachable',
      `The source closed the connection early: ${cause.message}.`,
      { cause },
    );
  });
  if (bytes) return bytes;
  throw badAnswer(`it has more than ${maxBytes} bytes.`);
}

function parse(bytes: Uint8Array): unknown {
  let json: unknown;
  try {
    ({ json } = parseJson(bytes));
  } catch (cause) {
    throw badAnswer((cause as Error).message, cause);
  }
  if (json === null)
    throw badAnswer('null is not a playlist: answer 204 or 404 when there is none.');
  return json;
}
