import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { tryParseJson } from '../../domain/json/try-parse-json.ts';
import { type TvOperation, tvOperationAt } from '../../faults/tv-call.ts';

/** An event as a TV sent it. */
export interface SentEvent {
  /** Hash of the event without its `seq`. A TV that renumbers an event sends the same event. */
  digest: string;
  type: string;
  /**
   * Timestamp by the TV's clock, in Unix epoch seconds. `undefined` if there is no valid timestamp.
   */
  seconds: number | undefined;
  playlistId: string | undefined;
  creativeId: string | undefined;
  campaignId: string | undefined;
  entryId: string | undefined;
  /** Playing time in seconds. */
  duration: number | undefined;
  /** Sequence number of the event. `null`: not an integer of 1 or more. `undefined`: no `seq`. */
  seq: number | null | undefined;
}

/** The request of a TV. Secrets are replaced by their fingerprints. */
export interface TvRequest {
  /** Operation of the request. `undefined` for a path that is not an operation of TVs. */
  operation: TvOperation | undefined;
  method: string;
  /** Path and query. Keys and pairing codes are replaced. */
  path: string;
  /** Whether the path or query contains a device key or a pairing code. */
  hasSecretInPath: boolean;
  address: string;
  /** Fingerprint of the device key. `undefined` without a device key. */
  key: string | undefined;
  /** Fingerprint of the `Idempotency-Key`. */
  idempotencyKey: string | undefined;
  /** Whether the `Idempotency-Key` has 16 to 255 visible ASCII characters. */
  isSecretIdempotencyKey: boolean;
  ifNoneMatch: string | undefined;
  /** The header `X-Device-Time`. */
  deviceTime: string | undefined;
  /** Query parameters of a request for changes. */
  after: string | undefined;
  waitSeconds: number | undefined;
  /** Hash of the body. */
  bodyDigest: string;
  bodyBytes: number;
  /** Fingerprint of the pairing code of a registration. */
  pairingCode: string | undefined;
  /** The first 100 events of a batch. Empty for other requests. */
  events: readonly SentEvent[];
}

/** The answer to a request, as far as the exam needs it. */
export interface TvAnswer {
  status: number;
  /** Error code of a problem document. */
  code: string | undefined;
  retryAfterSeconds: number | undefined;
  etag: string | undefined;
  /** Id of the playlist in the answer. */
  playlistId: string | undefined;
  /** Intervals of a config, in minutes. */
  syncMinutes: number | undefined;
  heartbeatMinutes: number | undefined;
  /** Cursor of an answer about changes, and the `ETag` of the playlist that it names. */
  cursor: string | undefined;
  playlistEtag: string | undefined;
  /** Fingerprint of a new device key. */
  newKey: string | undefined;
}

/**
 * How an exchange ended. `lost`: the service handled the request, but the connection was cut.
 * `cut`: the service did not handle the request. `abandoned`: the TV disconnected before the answer
 * was ready.
 */
export type ExchangeEnd = 'answered' | 'lost' | 'cut' | 'abandoned';

/** One request of the TV and its outcome. Times are in Unix epoch milliseconds. */
export interface TvExchange extends TvRequest {
  /** Position in order of arrival, from 1. */
  number: number;
  /** Time at which the request arrived. */
  atMs: number;
  /** Time at which the answer was ready to be sent, or the connection was cut. */
  endMs: number;
  end: ExchangeEnd;
  /** Id of the injected fault. */
  fault: string | undefined;
  /** For a lost answer, the answer that the TV did not get. */
  answer: TvAnswer | undefined;
}

/**
 * Returns the index of the event that the exam rejects: the fourth, or the middle of a smaller
 * batch, so that events follow it.
 */
export const refusedIndex = ({ events }: Pick<TvRequest, 'events'>): number =>
  Math.max(0, Math.min(3, (events.length - 1) >> 1));

/**
 * Returns a truncated SHA-256 hash that identifies a secret. It does not hide short secrets such as
 * pairing codes from brute force.
 */
export const fingerprint = (secret: string | Buffer): string =>
  hash('sha256', secret, 'base64url').slice(0, 16);

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 64).toLowerCase() : undefined;
const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

type Members = Record<string, unknown>;
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** Timestamps of at least this number are in milliseconds (docs/protocol.md §1.2). */
export const firstMilliseconds = 1e11;

function readSeq(value: unknown): SentEvent['seq'] {
  if (value === undefined) return undefined;
  const seq = number(value) ?? 0;
  return Number.isSafeInteger(seq) && seq >= 1 ? seq : null;
}

function readEvent(value: unknown): SentEvent {
  const event = membersOf(value);
  const { seq, ...content } = event;
  const timestamp = number(event.timestamp);
  return {
    digest: fingerprint(JSON.stringify(content)),
    type: text(event.type) ?? '',
    seconds:
      timestamp !== undefined && timestamp >= firstMilliseconds ? timestamp / 1000 : timestamp,
    playlistId: text(event.playlistId),
    creativeId: text(event.creativeId),
    campaignId: text(event.campaignId),
    entryId: text(event.entryId),
    duration: number(event.duration),
    seq: readSeq(seq),
  };
}

const header = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

const keyForm = /\bdak_[0-9A-Za-z]{8,}/;

/** Describes a request of a TV, without its secrets. */
export function readRequest(
  method: string,
  url: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  { address, codes }: { address: string; codes: readonly string[] },
): TvRequest {
  const { pathname, search, searchParams } = new URL(url, 'http://tv.invalid');
  const operation = tvOperationAt(method, pathname);
  const json = operation === 'postEvents' || operation === 'registerDevice';
  const sent = json ? tryParseJson(body.toString('utf8')) : undefined;
  const code = operation === 'registerDevice' ? membersOf(sent).pairingCode : undefined;
  const idempotencyKey = header(headers['idempotency-key']);
  const target = pathname + search;
  const secrets = codes.filter((one) => target.includes(one));
  const [, bearer] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const waitSeconds = Number(searchParams.get('waitSeconds') ?? Number.NaN);
  return {
    operation,
    method,
    path: secrets
      .reduce((masked, secret) => masked.replaceAll(secret, '…'), target)
      .replaceAll(new RegExp(keyForm, 'g'), 'dak_…')
      .slice(0, 200),
    hasSecretInPath: secrets.length > 0 || keyForm.test(target),
    address,
    key: bearer === undefined ? undefined : fingerprint(bearer),
    idempotencyKey: idempotencyKey === undefined ? undefined : fingerprint(idempotencyKey),
    isSecretIdempotencyKey: /^[\x21-\x7e]{16,255}$/.test(idempotencyKey ?? ''),
    ifNoneMatch: header(headers['if-none-match']),
    deviceTime: header(headers['x-device-time'])?.slice(0, 64),
    after: searchParams.get('after') ?? undefined,
    waitSeconds: Number.isFinite(waitSeconds) ? waitSeconds : undefined,
    bodyDigest: fingerprint(body),
    bodyBytes: body.length,
    pairingCode: typeof code === 'string' ? fingerprint(code) : undefined,
    events:
      operation === 'postEvents' && Array.isArray(sent) ? sent.slice(0, 100).map(readEvent) : [],
  };
}

/** Describes an answer, without its secrets. */
export function readAnswer(status: number, headers: Headers, body: Buffer): TvAnswer {
  const json = membersOf(tryParseJson(body.toString('utf8')));
  const config = membersOf(json.config ?? json);
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  return {
    status,
    code: status >= 400 ? text(json.code) : undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    etag: headers.get('etag') ?? undefined,
    playlistId: text(json.id),
    syncMinutes: number(config.syncIntervalMinutes),
    heartbeatMinutes: number(config.heartbeatIntervalMinutes),
    cursor: typeof json.cursor === 'string' ? json.cursor : undefined,
    playlistEtag: membersOf(json.playlist).etag as string | undefined,
    newKey: typeof json.apiKey === 'string' ? fingerprint(json.apiKey) : undefined,
  };
}
