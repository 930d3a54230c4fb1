import { interrupted } from '../client/interrupted.ts';
import type { MakeRequester, Requester } from '../client/requester.ts';
import type { Exchanged } from '../client/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { Answer } from './answer.ts';

/** The content of a request. */
export interface RequestContent {
  /** Sent as `Authorization: Bearer …`. */
  key?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, with its `Content-Type` unless `headers` contain one. */
  body?: unknown;
  /** Sent verbatim in place of `body`. Has no `Content-Type` unless `headers` contain one. */
  raw?: string;
}

/**
 * Sends one request and resolves with any response. Throws `unreachable` if there is none, or
 * `interrupted`.
 */
export type Send = (method: string, path: string, sent?: RequestContent) => Promise<Answer>;

export interface SendOptions {
  /** Base URL of the service, without a trailing slash. */
  service: string;
  makeRequester: MakeRequester;
  certificates?: readonly string[] | undefined;
  clock: Clock;
  timeoutMs: number;
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  /**
   * Once it aborts, no further requests are sent. A pending one is completed, because what it
   * creates must be deleted.
   */
  signal?: AbortSignal | undefined;
}

/**
 * Size from which a request uses its own connection. A service may reject a large body before it
 * has been sent completely, and close the connection.
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

type RawReply = Awaited<ReturnType<Requester>>;

async function readReply({ statusCode, headers, body }: RawReply): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const first = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value[0] : value,
  ]);
  return { status: statusCode, headers: Object.fromEntries(first), text, json: parseJson(text) };
}

/**
 * Makes a function that sends requests unchanged. It never retries, and resolves with error
 * responses too.
 */
export function makeSend({
  service,
  makeRequester,
  certificates,
  clock,
  timeoutMs,
  onExchange,
  signal,
}: SendOptions): Send {
  let requester: Promise<Requester> | undefined;

  return async (method, path, sent = {}) => {
    if (signal?.aborted) throw interrupted();
    const startedAt = clock.now();
    const report = (outcome: string) =>
      onExchange?.({ method, path, outcome, tookMs: clock.now() - startedAt });
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () => timeout.abort());
    const body = sent.raw ?? (sent.body === undefined ? null : JSON.stringify(sent.body));
    try {
      requester ??= makeRequester(certificates);
      const answer = await readReply(
        await (await requester)(`${service}${path}`, {
          method,
          headers: headersOf(sent, body?.length ?? 0),
          body,
          signal: timeout.signal,
        }),
      );
      report(String(answer.status));
      return answer;
    } catch (cause) {
      report('unreachable');
      const reason = timeout.signal.aborted
        ? `no answer within ${timeoutMs / 1000} seconds`
        : (cause as Error).message;
      throw new SignageError(
        'unreachable',
        `${service} did not answer ${method} ${path.split('?')[0]}: ${reason}.`,
        { cause },
      );
    } finally {
      cancel();
    }
  };
}
