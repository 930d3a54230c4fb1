import { type ErrorExtras, type FieldError, SignageError } from '../domain/error.ts';
import { errorKinds } from '../wire/errors.ts';

/** An answer as it came. */
export interface Reply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The body, in place of `text`, where that was asked for: its end is the answer's end, an error that it broke off. */
  stream?: AsyncIterable<Buffer>;
}

const overloaded = [429, 502, 503, 504];
const codeForm = /^[a-z][a-z0-9_]{0,63}$/;
const longestText = 2000;
const mostComplaints = 500;

/** Keys and tokens stay out of messages, whatever the other end put into its own. */
function withoutSecrets(text: string): string {
  return text.slice(0, longestText).replaceAll(/\b([dm]ak_)[0-9A-Za-z]+/g, '$1…');
}

/** One header as text; several of a name count as the first. */
export function header(reply: Pick<Reply, 'headers'>, name: string): string | undefined {
  const value = reply.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** JSON text as an object; `undefined` for everything else. */
export function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
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

function complaints(errors: unknown): FieldError[] | undefined {
  if (!Array.isArray(errors)) return undefined;
  const isComplaint = (one: Partial<FieldError> | null) =>
    typeof one?.path === 'string' && typeof one.message === 'string';
  const known: FieldError[] = errors.slice(0, mostComplaints).filter(isComplaint);
  return known.map(({ path, message }) => ({
    path: withoutSecrets(path),
    message: withoutSecrets(message),
  }));
}

/** Without a code of ours it was a proxy that answered, or no signage service at all. */
function codeOf(problem: Record<string, unknown>, status: number): string {
  const { code } = problem;
  if (typeof code === 'string' && (Object.hasOwn(errorKinds, code) || codeForm.test(code)))
    return code;
  return overloaded.includes(status) ? 'unavailable' : 'unexpected_answer';
}

/** The error that an unsuccessful answer stands for; never fails itself, whatever the answer. */
export function answeredError(reply: Reply, service: string, nowMs: number): SignageError {
  const problem = asObject(reply.text) ?? {};
  const code = codeOf(problem, reply.status);
  const said = [problem.detail, problem.title].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  const strange = `${service} answered ${reply.status} without saying why. Is it a signage service?`;
  const extras: ErrorExtras = { status: reply.status };
  const [errors, retryAfter] = [complaints(problem.errors), retryAfterSeconds(reply, nowMs)];
  if (errors) extras.errors = errors;
  if (problem.truncated === true) extras.truncated = true;
  if (retryAfter !== undefined) extras.retryAfterSeconds = retryAfter;
  if (typeof problem.requestId === 'string') extras.requestId = withoutSecrets(problem.requestId);
  if (typeof problem.existingId === 'string') extras.existingId = problem.existingId;
  return new SignageError(code, said === undefined ? strange : withoutSecrets(said), extras);
}
