import { interrupted } from '../client/interrupted.ts';
import type { MakeRequester, Requester } from '../client/requester.ts';
import type { Exchanged } from '../client/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { Answer } from './answer.ts';

/** What a request is made of. */
export interface Sent {
  /** Goes out as `Authorization: Bearer …`. */
  key?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Goes out as JSON, with its `Content-Type` unless `headers` name another. */
  body?: unknown;
  /** In place of `body`: text as it is, without a `Content-Type` unless `headers` name one. */
  raw?: string;
}

/** One request, whatever the answer. Throws `unreachable` when there is none, and `interrupted`. */
export type Send = (method: string, path: string, sent?: Sent) => Promise<Answer>;

export interface SendOptions {
  /** The service's address without a slash at its end. */
  service: string;
  makeRequester: MakeRequester;
  certificates?: readonly string[] | undefined;
  clock: Clock;
  timeoutMs: number;
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  /** Once it aborts no other request goes out; the one under way comes to its end, for what it makes has to be removed. */
  signal?: AbortSignal | undefined;
}

/** A body above this may be refused before all of it has gone out, and the connection with it: it goes on one of its own. */
const largeBody = 4096;

function headersOf({ key, headers = {}, body }: Sent, size: number): Record<string, string> {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const own = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return { ...own, ...(size > largeBody && { connection: 'close' }), ...given };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type RawReply = Awaited<ReturnType<Requester>>;

async function read({ statusCode, headers, body }: RawReply): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const first = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value[0] : value,
  ]);
  return { status: statusCode, headers: Object.fromEntries(first), text, json: parsed(text) };
}

/** Sends requests as they are and answers what comes as it is: nothing is repeated, and no answer is taken for an error. */
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
    const tell = (outcome: string) =>
      onExchange?.({ method, path, outcome, tookMs: clock.now() - startedAt });
    const late = new AbortController();
    const cancel = clock.after(timeoutMs, () => late.abort());
    const body = sent.raw ?? (sent.body === undefined ? null : JSON.stringify(sent.body));
    try {
      requester ??= makeRequester(certificates);
      const answer = await read(
        await (await requester)(`${service}${path}`, {
          method,
          headers: headersOf(sent, body?.length ?? 0),
          body,
          signal: late.signal,
        }),
      );
      tell(String(answer.status));
      return answer;
    } catch (cause) {
      tell('unreachable');
      const why = late.signal.aborted
        ? `no answer within ${timeoutMs / 1000} seconds`
        : (cause as Error).message;
      throw new SignageError(
        'unreachable',
        `${service} did not answer ${method} ${path.split('?')[0]}: ${why}.`,
        { cause },
      );
    } finally {
      cancel();
    }
  };
}
