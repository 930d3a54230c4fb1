import type { IncomingHttpHeaders } from 'node:http';
import type { NodeReply, NodeRequester } from '../../client/node-requester.ts';
import { interrupted } from '../../client/pause.ts';
import type { Exchanged } from '../../client/transport.ts';
import { systemCode } from '../../client/transport.ts';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { tooManyInformational } from '../../domain/informational-answers.ts';
import { span } from '../terminal/text.ts';
import { error, type MediaProblem, notLoaded, shownUrl, warning } from './finding.ts';

const notChecked = 'The item was not checked.';
const dnsCodes = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'];
const connectCodes = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EACCES',
];

const isTls = (code: string) =>
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO|UNABLE_TO_)/.test(code) || code.includes('SELF_SIGNED');

const tlsDetails: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the host is not valid yet.',
  CERT_REVOKED: 'The certificate of the host was revoked.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate authority of the host is not trusted here.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The host does not send its intermediate certificates.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate authority of the host is not trusted here.',
};

/** Returns the host names in a certificate for another host. Node attaches it to the error. */
function certificateNames(cause: unknown): string | undefined {
  const names = (cause as { cert?: { subjectaltname?: unknown } }).cert?.subjectaltname;
  return typeof names === 'string' ? names.replaceAll(/\b(?:DNS|IP Address):/g, '') : undefined;
}

function tlsProblem(code: string, cause: unknown, { host }: URL): MediaProblem {
  const effect = 'TVs refuse the connection.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return error('tls', {
      detail: `The certificate is for ${certificateNames(cause) ?? 'another host'}, not for ${host}.`,
      effect,
      advice: 'Use a host name of the certificate, or renew the certificate with this name.',
    });
  }
  if (/^(?:EPROTO|ERR_SSL_)/.test(code)) {
    return error('tls', {
      detail: `TLS with ${host} failed (${code}).`,
      effect,
      advice: 'Check whether the URL must begin with http, and which TLS versions the host offers.',
    });
  }
  return error('tls', {
    detail: tlsDetails[code] ?? `The certificate of the host cannot be verified (${code}).`,
    effect,
    advice: 'Install a valid certificate with its whole chain on the host.',
  });
}

/** Describes why a request failed, by the error code of Node. */
function connectionProblem(cause: unknown, url: URL): MediaProblem {
  // The failure of a proxy already has its text.
  if (cause instanceof SignageError)
    return error('connect', {
      detail: cause.message,
      effect: notChecked,
      advice: cause.hint ?? '',
    });
  const code = systemCode(cause);
  if (dnsCodes.includes(code)) {
    return error('dns', {
      detail: `The host name ${url.hostname} cannot be resolved (${code}).`,
      effect: notLoaded,
      advice: 'Correct the host name in the URL, or its DNS entry.',
    });
  }
  if (connectCodes.includes(code)) {
    return error('connect', {
      detail: `Connecting to ${url.host} failed (${code}).`,
      effect: notLoaded,
      advice: 'Start the server, or correct host and port. Check its firewall.',
    });
  }
  if (isTls(code)) return tlsProblem(code, cause, url);
  const isInvalid = code === tooManyInformational || /^HPE_/.test(code);
  const detail = isInvalid
    ? `The server sent no valid HTTP (${code}).`
    : `The server closed the connection too early (${code}).`;
  return error('connection', {
    detail,
    effect: notLoaded,
    advice: 'Check the log of the media server, or of the proxy in front of it.',
  });
}

/** Number of first bytes of a file that are checked: magic numbers and most MP4 indexes. */
export const prefixBytes = 64 * 1024;
const slowMs = 3000;
/**
 * The value of `User-Agent`. It begins like that of the browser of a TV, because some media servers
 * refuse unknown programs.
 */
const browserAgent = 'Mozilla/5.0 (compatible; signage)';

/** The beginning of a response. */
export interface MediaReply {
  status: number;
  headers: IncomingHttpHeaders;
  /** At most the bytes of the range, or `prefixBytes`. Never decompressed. Empty unless 2xx. */
  body: Buffer;
  /** Whether `body` is the whole body of the response. */
  isWhole: boolean;
}

/**
 * Sends one request. Returns `undefined` after it has reported why there is no response. Throws
 * `interrupted` if the signal aborts.
 */
export type Send = (
  url: URL,
  headers: Record<string, string>,
  method?: 'GET' | 'OPTIONS',
) => Promise<MediaReply | undefined>;

export interface SendOptions {
  clock: Clock;
  /** Time for all requests of one media file together, in milliseconds. */
  timeoutMs: number;
  /** Sends each request on a connection of its own. */
  requester: NodeRequester;
  interrupted: AbortSignal;
  /** Called for each request, for `--verbose`. The path is the URL without secrets. */
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  report(problem: MediaProblem): void;
}

/**
 * Reads up to `maxBytes` of a successful response, and closes the connection. `onChunk` gets the
 * size so far. Throws if the signal aborts before the end.
 */
async function readPrefix(
  { statusCode, body }: NodeReply,
  signal: AbortSignal,
  maxBytes: number,
  onChunk: (size: number) => void,
): Promise<Pick<MediaReply, 'body' | 'isWhole'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  if (statusCode < 200 || statusCode > 299) {
    body.destroy();
    return { body: Buffer.alloc(0), isWhole: false };
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    onChunk(size);
    // Leaving the loop destroys the stream.
    if (size > maxBytes) break;
  }
  // The end of the connection ends a body without `Content-Length`. If the signal aborts, such a
  // body looks complete to Node.
  signal.throwIfAborted();
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: size <= maxBytes };
}

/** Returns how many bytes of a body are read: those of the range that is asked for. */
function wantedBytes({ range }: Record<string, string>): number {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  return Math.max(prefixBytes, Number(end ?? 0) - Number(start ?? 0) + 1);
}

const timeoutProblem = (url: URL, timeoutMs: number, received: number | undefined) =>
  error('timeout', {
    detail:
      received === undefined
        ? `${url.host} did not answer within ${span(timeoutMs)}.`
        : `${url.host} stopped after ${received} bytes. It sent no more within ${span(timeoutMs)}.`,
    effect: 'A TV skips the item, or waits for it.',
    advice:
      'Check the load of the server and the network. playlist check --timeout sets the limit.',
  });

const slowProblem = (url: URL, tookMs: number) =>
  warning('slow', {
    detail: `The first byte from ${url.host} took ${span(tookMs)}.`,
    effect: 'On a TV without a copy, the item starts late.',
    advice: 'Put the file on a faster server or a CDN.',
  });

/** Makes the sender for one media URL. `stop` clears its timeout. */
export function makeSender(options: SendOptions): { send: Send; stop: () => void } {
  const { clock, timeoutMs, requester, report, onExchange } = options;
  const { interrupted: stopSignal } = options;
  const deadline = new AbortController();
  const abort = () => deadline.abort();
  const cancel = clock.after(timeoutMs, abort);
  stopSignal.addEventListener('abort', abort);
  let isSlow = false;

  const send: Send = async (url, headers, method = 'GET') => {
    if (stopSignal.aborted) throw interrupted(stopSignal);
    // The first late request has already reported the timeout.
    if (deadline.signal.aborted) return undefined;
    const startedMs = clock.now();
    const tell = (outcome: string) =>
      onExchange?.({ method, path: shownUrl(url), outcome, tookMs: clock.now() - startedMs });
    let received: number | undefined;
    try {
      const answer = await requester(url.href, {
        method,
        headers: { 'user-agent': browserAgent, 'accept-encoding': 'identity', ...headers },
        body: null,
        signal: deadline.signal,
      });
      received = 0;
      const tookMs = clock.now() - startedMs;
      if (tookMs >= slowMs && !isSlow) report(slowProblem(url, tookMs));
      isSlow ||= tookMs >= slowMs;
      const prefix = await readPrefix(answer, deadline.signal, wantedBytes(headers), (size) => {
        received = size;
      });
      tell(String(answer.statusCode));
      return { status: answer.statusCode, headers: answer.headers, ...prefix };
    } catch (cause) {
      if (stopSignal.aborted) throw interrupted(stopSignal);
      const isLate = deadline.signal.aborted;
      const problem = isLate
        ? timeoutProblem(url, timeoutMs, received)
        : connectionProblem(cause, url);
      tell(problem.check);
      report(problem);
      return undefined;
    }
  };

  const stop = () => {
    cancel();
    stopSignal.removeEventListener('abort', abort);
  };
  return { send, stop };
}
