import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { type Clock, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { limitInformational } from '../domain/informational-answers.ts';
import { userAgent } from '../package/user-agent.ts';
import type { CallableAddresses } from './callable-address.ts';
import { guardedLookup } from './guarded-lookup.ts';

/** Result of one call of a receiver. */
export interface SendOutcome {
  /** Status of the answer. `null`: there was none. */
  status: number | null;
  /** Duration in milliseconds. */
  ms: number;
  /** Why there was no answer. */
  error: string | null;
  /** The value of `Retry-After`, if there is one. */
  retryAfter: string | undefined;
  /** The first printable characters of the answer. Empty unless `keepsText`. */
  text: string;
}

export interface Sending {
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Whether the answer is read for its first printable characters. */
  keepsText?: boolean;
  /** Ends the request early. */
  signal?: AbortSignal | undefined;
}

/** Sends webhooks to addresses that may be called. */
export interface WebhookSender {
  /** Throws `address_refused` if a URL can never be called. */
  checkUrl(url: URL): void;
  /** Sends one request. Never rejects: failures are in the outcome. */
  send(url: URL, sending: Sending): Promise<SendOutcome>;
}

export interface WebhookSenderOptions {
  addresses: CallableAddresses;
  clock: Clock;
  /** Resolves host names. Default: as the system does. */
  lookup?: LookupFunction;
}

/** A receiver has this long, from the look-up of its name to its status. */
export const answerLimitMs = 15 * secondMs;
const textLimit = 200;
/** Enough bytes for `textLimit` characters of UTF-8 between some that are not printable. */
const readBytes = 4096;
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu;

const printable = (bytes: Buffer) =>
  [...bytes.toString().replaceAll(unprintable, ' ').trim()].slice(0, textLimit).join('');

/** Reads the beginning of an answer, at most `readBytes`, or what came before it broke off. */
async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= readBytes) break;
    }
  } catch {
    // The status has arrived, and is the outcome.
  }
  return printable(Buffer.concat(chunks).subarray(0, readBytes));
}

/** Describes a failure without the URL, whose path may be a secret. */
function reasonOf(error: Error & { code?: string }): string {
  if (error instanceof SignageError) return error.message;
  return error.code ?? 'the connection failed';
}

/**
 * Makes the sender of webhooks. It checks each address twice: when a name is resolved, and when the
 * connection stands. It never follows redirects, never uses a proxy, and never waits for more than
 * 15 seconds. Each request has a connection of its own.
 */
export function makeWebhookSender({
  addresses,
  clock,
  lookup,
}: WebhookSenderOptions): WebhookSender {
  const agent = userAgent();
  const agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };

  /** Destroys a connection that reached an address that must not be called, before it is used. */
  function guardSocket(url: URL, socket: Socket): void {
    socket.once('connect', () => {
      try {
        addresses.checkAddress(url, socket.remoteAddress ?? '');
      } catch (refusal) {
        socket.destroy(refusal as Error);
      }
    });
  }

  function exchange(url: URL, { headers, body, keepsText }: Sending, signal: AbortSignal) {
    return new Promise<Pick<SendOutcome, 'status' | 'retryAfter' | 'text'>>((resolve, reject) => {
      const isHttps = url.protocol === 'https:';
      const request = (isHttps ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        headers: { 'User-Agent': agent, ...headers, 'Content-Length': body.length },
        agent: agents[isHttps ? 'https:' : 'http:'],
        lookup: guardedLookup((address) => addresses.checkAddress(url, address), lookup),
        signal,
      });
      limitInformational(request);
      request.on('socket', (socket) => guardSocket(url, socket));
      let isAnswered = false;
      request.on('error', (error) => isAnswered || reject(error));
      request.on('response', async (answer) => {
        isAnswered = true;
        answer.on('error', () => {});
        const text = keepsText ? await readText(answer) : '';
        request.destroy();
        const retryAfter = answer.headers['retry-after'];
        resolve({ status: answer.statusCode ?? 0, retryAfter, text });
      });
      request.end(body);
    });
  }

  async function send(url: URL, sending: Sending): Promise<SendOutcome> {
    const startMs = clock.now();
    const limit = new AbortController();
    const cancel = clock.after(answerLimitMs, () => limit.abort());
    const failed = (error: string): SendOutcome => ({
      status: null,
      ms: clock.now() - startMs,
      error,
      retryAfter: undefined,
      text: '',
    });
    try {
      addresses.checkUrl(url);
      const answer = await exchange(
        url,
        sending,
        AbortSignal.any([limit.signal, sending.signal ?? limit.signal]),
      );
      return { ...answer, ms: clock.now() - startMs, error: null };
    } catch (error) {
      if (limit.signal.aborted) return failed(`no answer within ${answerLimitMs / secondMs} s`);
      return failed(reasonOf(error as Error));
    } finally {
      cancel();
    }
  }

  return { checkUrl: addresses.checkUrl, send };
}
