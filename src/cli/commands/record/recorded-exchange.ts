import { iso } from '../../../domain/clock.ts';
import { errorKinds } from '../../../wire/errors.ts';
import type { CapturedExchange, CapturedMessage, Route } from './captured-exchange.ts';
import type { RecordedExchange, RecordedMessage, Violation } from './recording.ts';

/** Returns a member of a body if it is a text. */
function textMember(json: unknown, name: string): string | undefined {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined;
  const value = json[name as keyof typeof json] as unknown;
  return typeof value === 'string' ? value : undefined;
}

/** An exchange whose bodies were parsed as far as they are JSON. */
export interface ParsedExchange extends CapturedExchange {
  operationId: string | undefined;
  requestJson: unknown;
  answerJson: unknown;
}

/** Returns the secret that identifies the TV of a request. */
function secretOf({ operationId, request, requestJson, answerJson }: ParsedExchange) {
  if (operationId === 'registerDevice') return textMember(requestJson, 'pairingCode');
  if (operationId === 'createClaim') return textMember(answerJson, 'token');
  return request.headers.authorization;
}

/** Returns the secret that an answer gave to the TV: a key, or the code of an offer. */
function issuedSecret({ operationId, status, answerJson }: ParsedExchange): string | undefined {
  if (operationId === 'getClaimStatus' && status === 200)
    return textMember(answerJson, 'pairingCode');
  const isKey = operationId === 'registerDevice' || operationId === 'rotateDeviceKey';
  const key = isKey && status === 201 ? textMember(answerJson, 'apiKey') : undefined;
  return key === undefined ? undefined : `Bearer ${key}`;
}

/**
 * Numbers the TVs in the order of their first requests. A claim, a pairing code or a key identifies
 * a TV; rotated keys belong to the same TV. Keeps the secrets in memory.
 */
export class TvNumbers {
  readonly #bySecret = new Map<string, number>();
  #count = 0;

  /** Returns the number of the TV of an exchange. `null` for requests to the management API. */
  of(exchange: ParsedExchange): number | null {
    if (/^\/v1(?:[/?]|$)/.test(exchange.path)) return null;
    const secret = secretOf(exchange) ?? '';
    const known = this.#bySecret.get(secret);
    const number = known ?? ++this.#count;
    this.#bySecret.set(secret, number);
    const issued = issuedSecret(exchange);
    if (issued !== undefined) this.#bySecret.set(issued, number);
    return number;
  }
}

/** Headers that are recorded, with the form of their values. Others may hold a secret. */
const headerForms: Readonly<Record<string, RegExp>> = {
  'content-encoding': /^(?:br|deflate|gzip|identity)$/,
  'content-type':
    /^(?:application\/(?:json|problem\+json|merge-patch\+json)|text\/(?:plain|html|csv))(?:; ?charset=utf-8)?$/i,
  'retry-after': /^\d{1,6}$/,
  'x-config-source': /^(?:screen|venue|tenant|default)$/,
  'x-device-time': /^\d{1,16}$/,
  'x-playlist-version': /^\d{1,16}$/,
  'x-source': /^(?:on-demand|store|object-store)$/,
};

const eventType = /^[a-z][a-z_]{0,39}$/;
/** Matches a segment of a path that the protocol does not have, such as `playlists`. */
const word = /^(?:v1|[a-z][a-z._-]{0,23})?$/;

const numberOr = (value: unknown) => (typeof value === 'number' ? value : undefined);

function recordedMessage({ headers, body }: CapturedMessage): RecordedMessage {
  const kept = Object.entries(headerForms).flatMap(([name, form]) => {
    const value = headers[name];
    return typeof value === 'string' && form.test(value) ? [[name, value]] : [];
  });
  return { bytes: body.bytes, headers: Object.fromEntries(kept) };
}

/** Returns the template of an endpoint's path. Of another path, only its plain words. */
function shownPath({ path }: ParsedExchange, { template }: Route): string {
  if (template !== undefined) return template;
  const [withoutQuery = ''] = path.split('?');
  return withoutQuery
    .split('/')
    .map((segment) => (word.test(segment) ? segment : '*'))
    .join('/');
}

function recordedEvents({ operationId, requestJson }: ParsedExchange): RecordedExchange['events'] {
  if (operationId !== 'postEvents' || !Array.isArray(requestJson)) return undefined;
  return requestJson.map((event: unknown) => {
    const { type, timestamp, duration } = (event ?? {}) as Record<string, unknown>;
    return {
      type: typeof type === 'string' && eventType.test(type) ? type : null,
      timestamp: numberOr(timestamp),
      duration: numberOr(duration),
    };
  });
}

function recordedConfig(exchange: ParsedExchange): RecordedExchange['config'] {
  const { operationId, status, answerJson } = exchange;
  const json = (answerJson ?? {}) as { config?: object };
  const config =
    operationId === 'registerDevice' && status === 201
      ? json.config
      : operationId === 'getDeviceConfig' && status === 200
        ? json
        : undefined;
  if (typeof config !== 'object' || config === null) return undefined;
  const { syncIntervalMinutes, heartbeatIntervalMinutes } = config as Record<string, unknown>;
  return {
    syncIntervalMinutes: numberOr(syncIntervalMinutes),
    heartbeatIntervalMinutes: numberOr(heartbeatIntervalMinutes),
  };
}

function errorCode(answerJson: unknown): string | undefined {
  const code = textMember(answerJson, 'code');
  return code !== undefined && Object.hasOwn(errorKinds, code) ? code : undefined;
}

/**
 * Returns what is written of an exchange: times, sizes, statuses, the template of the path,
 * numbers, and words of the protocol. Nothing that the TV or the service can choose freely is
 * written, so nothing in it can be secret.
 */
export function recordedExchange(
  exchange: ParsedExchange,
  route: Route,
  tv: number | null,
  wrong: readonly Violation[],
): RecordedExchange {
  const { startedMs, tookMs, method, request, answer, status, outcome, operationId } = exchange;
  return {
    at: iso(startedMs),
    ms: tookMs,
    tv,
    operation: operationId ?? null,
    method,
    path: shownPath(exchange, route),
    request: recordedMessage(request),
    status: status ?? null,
    code: errorCode(exchange.answerJson),
    answer: recordedMessage(answer),
    outcome,
    events: recordedEvents(exchange),
    config: recordedConfig(exchange),
    wrong: [...wrong],
  };
}
