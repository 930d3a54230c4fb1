import { interrupted } from '../client/pause.ts';
import { header } from '../client/problem.ts';
import { makeTransport, type TransportOptions } from '../client/transport.ts';
import { SignageError } from '../domain/error.ts';
import type { Answer } from './answer.ts';

export interface RequestContent {
  /** Key or token, sent as `Authorization: Bearer …`. Default: no `Authorization` header. */
  key?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, with its `Content-Type` unless `headers` contain one. Default: no body. */
  body?: unknown;
  /** Sent unchanged in place of `body`. Has no `Content-Type` unless `headers` contain one. */
  raw?: string;
}

/**
 * Sends one request and resolves with the response, even if it is an error. Throws `unreachable` if
 * there is no response, and `interrupted` if the signal has aborted.
 */
export type Send = (method: string, path: string, sent?: RequestContent) => Promise<Answer>;

export interface SendOptions extends TransportOptions {
  timeoutMs: number;
  /**
   * After it aborts, no further requests are sent. A request in flight is completed, because the
   * records that it creates must be deleted.
   */
  signal?: AbortSignal | undefined;
}

/**
 * Maximum length of a body that is sent on a kept-alive connection. A service may reject a larger
 * body before it has arrived completely, and close the connection.
 */
const largeBody = 4096;

function headersOf(
  { key, headers = {}, body }: RequestContent,
  size: number,
): Record<string, string> {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const own = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return { ...own, ...(size > largeBody && { connection: 'close' }), ...given };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a function that sends each request once, without the checks of a client. */
export function makeSend({ signal, timeoutMs, ...options }: SendOptions): Send {
  const transport = makeTransport(options);

  return async (method, path, sent = {}) => {
    if (signal?.aborted) throw interrupted(signal);
    const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    try {
      const headers = headersOf(sent, body?.length ?? 0);
      const reply = await transport({ method, path, headers, body, timeoutMs });
      const first = Object.keys(reply.headers).map((name) => [name, header(reply, name)]);
      const { status, text } = reply;
      return { status, headers: Object.fromEntries(first), text, json: parseJson(text) };
    } catch (cause) {
      const { code, message } = cause as SignageError;
      throw new SignageError(code, `${method} ${path.split('?')[0]}: ${message}`, { cause });
    }
  };
}
