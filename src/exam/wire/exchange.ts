import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { tryParseJson } from '../../domain/json/try-parse-json.ts';
import type { runtimeOperations } from '../../wire/operations/runtime.ts';

/** An operation of TVs, by its operation id. */
export type TvOperation = keyof typeof runtimeOperations;

/** An event as a TV sent it. */
export interface SentEvent {
  /** Hash of the whole event. */
  digest: string;
  type: string;
  /** By the TV's clock, in seconds. `undefined` without a valid timestamp. */
  seconds: number | undefined;
  playlistId: string | undefined;
  creativeId: string | undefined;
  campaignId: string | undefined;
  /** Seconds played. */
  duration: number | undefined;
  /** Number of the event. `null`: not an integer of 1 or more. `undefined`: the event has none. */
  seq: number | null | undefined;
}

/** The request of a TV. Secrets are replaced by their fingerprints. */
export interface TvRequest {
  /** `undefined` for a path that is not an operation of TVs. */
  operation: TvOperation | undefined;
  method: string;
  /** Path and query. Keys and pairing codes are replaced. */
  path: string;
  /** Whether the path or query contains a device key or a pairing code. */
  hasSecretInPath: boolean;
  address: string;
  host: string | undefined;
  /** Fingerprint of the device key. `undefined` without one. */
  key: string | undefined;
  /** Fingerprint of the `Idempotency-Key`. */
  idempotencyKey: string | undefined;
  /** Whether the `Idempotency-Key` has 16 to 255 visible ASCII characters. */
  isSecretIdempotencyKey: boolean;
  ifNoneMatch: string | undefined;
  /** The header `X-Device-Time`. */
  deviceTime: string | undefined;
  /** Query of a request for changes. */
  after: string | undefined;
  waitSeconds: number | undefined;
  /** Hash of the body. */
  bodyDigest: string;
  bodyBytes: number;
  /** Fingerprint of the pairing code of a registration. */
  pairingCode: string | undefined;
  /** At most 100. Empty for other requests. */
  events: readonly SentEvent[];
}

/** The answer to a request, as far as the exam needs it. */
export interface TvAnswer {
  status: number;
  /** The error code. */
  code: string | undefined;
  retryAfterSeconds: number | undefined;
  etag: string | undefined;
  /** Id of a playlist. */
  playlistId: string | undefined;
  /** Intervals of a config, in minutes. */
  syncMinutes: number | undefined;
  heartbeatMinutes: number | undefined;
  /** Cursor of an answer about changes, and the ETag of the playlist that it names. */
  cursor: string | undefined;
  playlistEtag: string | undefined;
  /** Fingerprint of a new device key. */
  newKey: string | undefined;
}

/** How an exchange ended. `lost`: handled, but the connection was cut. `cut`: not handled. */
export type ExchangeEnd = 'answered' | 'lost' | 'cut' | 'abandoned';

/** One request of the TV, and what became of it. Times are in Unix epoch milliseconds. */
export interface Exchange extends TvRequest {
  /** Numbered in order of arrival, from 1. */
  number: number;
  /** Arrival of the request. */
  atMs: number;
  /** When the answer was ready to be sent, or the connection was cut. */
  endMs: number;
  end: ExchangeEnd;
  /** Id of the fault that the exam played. */
  fault: string | undefined;
  /** For a lost answer, the answer that the TV did not get. */
  answer: TvAnswer | undefined;
}

const paths: readonly [method: string, path: RegExp, operation: TvOperation][] = [
  ['POST', /^\/devices\/register$/, 'registerDevice'],
  ['GET', /^\/devices\/[^/]+\/playlist$/, 'getPlaylist'],
  ['GET', /^\/devices\/[^/]+\/config$/, 'getDeviceConfig'],
  ['GET', /^\/devices\/[^/]+\/changes$/, 'getDeviceChanges'],
  ['POST', /^\/devices\/[^/]+\/events$/, 'postEvents'],
  ['POST', /^\/devices\/[^/]+\/keys\/rotate$/, 'rotateDeviceKey'],
];

/** Returns a short hash that identifies a secret without revealing it. */
export const fingerprint = (secret: string | Buffer): string =>
  hash('sha256', secret, 'base64url').slice(0, 16);

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 64).toLowerCase() : undefined;
const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

type Members = Record<string, unknown>;
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** Numbers from this on are milliseconds (docs/protocol.md §1.2). */
export const firstMilliseconds = 1e11;

function readSeq(value: unknown): SentEvent['seq'] {
  if (value === undefined) return undefined;
  const seq = number(value) ?? 0;
  return Number.isSafeInteger(seq) && seq >= 1 ? seq : null;
}

function readEvent(value: unknown): SentEvent {
  const event = membersOf(value);
  const timestamp = number(event.timestamp);
  return {
    digest: fingerprint(JSON.stringify(value) ?? ''),
    type: text(event.type) ?? '',
    seconds:
      timestamp !== undefined && timestamp >= firstMilliseconds ? timestamp / 1000 : timestamp,
    playlistId: text(event.playlistId),
    creativeId: text(event.creativeId),
    campaignId: text(event.campaignId),
    duration: number(event.duration),
    seq: readSeq(event.seq),
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
  const operation = paths.find(([of, path]) => of === method && path.test(pathname))?.[2];
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
    host: headers.host,
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
