import {
  type ErrorCode,
  type ErrorExtras,
  type FieldError,
  type ScreenPlace,
  SignageError,
} from '../domain/error.ts';
import { isObject } from '../domain/json/is-object.ts';
import { errorKinds } from '../wire/errors.ts';

/** A raw response. */
export interface Reply {
  status: number;
  /** Names are lower case. */
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /**
   * The body as a stream, if the request asked for a stream. `text` is then empty. Reading throws
   * if the connection breaks off.
   */
  stream?: AsyncIterable<Uint8Array>;
}

const overloadStatuses = [429, 502, 503, 504];
const codePattern = /^[a-z][a-z0-9_]{0,63}$/;
const maxTextLength = 2000;
const maxFieldErrors = 500;

/** Masks keys and tokens in a message of the service, and truncates it. */
function withoutSecrets(text: string): string {
  return text.slice(0, maxTextLength).replaceAll(/\b((?:dak|mak|clm|lgn)_)[0-9A-Za-z]+/g, '$1…');
}

/** Returns one header; the first value if it is repeated. */
export function header(reply: Pick<Reply, 'headers'>, name: string): string | undefined {
  const value = reply.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Parses a JSON object. Returns `undefined` for anything else. */
export function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterSeconds(reply: Reply, nowMs: number): number | undefined {
  const text = header(reply, 'retry-after');
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : Math.ceil((Date.parse(text) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function fieldErrors(errors: unknown): FieldError[] | undefined {
  if (!Array.isArray(errors)) return undefined;
  const isFieldError = (one: Partial<FieldError> | null) =>
    typeof one?.path === 'string' && typeof one.message === 'string';
  const known: FieldError[] = errors.slice(0, maxFieldErrors).filter(isFieldError);
  return known.map(({ path, message }) => ({
    path: withoutSecrets(path),
    message: withoutSecrets(message),
  }));
}

function screenPlace(screen: unknown): ScreenPlace | undefined {
  const { name, venue } = (screen ?? {}) as { name?: unknown; venue?: { name?: unknown } | null };
  const venueName = venue?.name;
  return typeof name === 'string' && typeof venueName === 'string'
    ? { name: withoutSecrets(name), venue: { name: withoutSecrets(venueName) } }
    : undefined;
}

/**
 * Returns the error code of a response. A response without a valid code is from a proxy or from
 * another kind of service. A later version of the service may have codes that are not listed.
 */
function codeOf(problem: Record<string, unknown>, status: number): ErrorCode {
  const { code } = problem;
  if (typeof code === 'string' && (Object.hasOwn(errorKinds, code) || codePattern.test(code)))
    return code as ErrorCode;
  return overloadStatuses.includes(status) ? 'unavailable' : 'unexpected_answer';
}

/** Converts an unsuccessful response into a `SignageError`. Never throws, whatever the response. */
export function answeredError(reply: Reply, service: string, nowMs: number): SignageError {
  const problem = asObject(reply.text) ?? {};
  const code = codeOf(problem, reply.status);
  const detail = [problem.detail, problem.title].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  const fallback = `${service} answered ${reply.status} without saying why. Is it a signage service?`;
  const extras: ErrorExtras = { status: reply.status };
  const errors = fieldErrors(problem.errors);
  const retryAfter = retryAfterSeconds(reply, nowMs);
  if (errors) extras.errors = errors;
  if (problem.truncated === true) extras.truncated = true;
  if (retryAfter !== undefined) extras.retryAfterSeconds = retryAfter;
  if (typeof problem.requestId === 'string') extras.requestId = withoutSecrets(problem.requestId);
  const screen = screenPlace(problem.screen);
  if (screen) extras.screen = screen;
  if (typeof problem.existingId === 'string') extras.existingId = problem.existingId;
  if (Number.isSafeInteger(problem.received)) extras.received = Number(problem.received);
  return new SignageError(code, detail === undefined ? fallback : withoutSecrets(detail), extras);
}
