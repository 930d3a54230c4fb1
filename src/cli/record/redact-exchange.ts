import { iso } from '../../domain/clock.ts';
import { type Operation, type OperationId, operations } from '../../wire/operations.ts';
import type { CapturedExchange, CapturedMessage } from './captured-exchange.ts';
import type { RecordedExchange, RecordedMessage, Violation } from './recording.ts';
import type { SecretNames } from './secret-names.ts';

const requestHeaders = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'user-agent',
  'x-device-time',
];
const answerHeaders = [
  'allow',
  'cache-control',
  'content-encoding',
  'content-type',
  'etag',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'x-config-source',
  'x-playlist-version',
  'x-request-id',
  'x-signage-fault',
  'x-source',
];

const contentType = /^[a-z]+\/[a-z.+-]+(?:; *[a-z]+=[\w"-]+)*$/i;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Matches words without digits. They are no secrets, so a mistyped path stays readable. */
const word = /^(?:v1|[a-z._-]{0,24})$/i;
const number = /^\d{1,13}$/;
/** Members whose value is secret, including all nested values. */
const credentialMembers = new Set(['apikey', 'token', 'secret', 'password', 'authorization']);
/** Returns a member name in lower case, without separators. */
const plainName = (member: string) => member.replaceAll(/[^a-z]/gi, '').toLowerCase();
/** Matches a pairing code in a member that may also hold an error code. */
const groupedCode = /^[A-Z0-9]{4}[- ]?[A-Z0-9]{4}$/;

/**
 * Returns the minimum length of an `Idempotency-Key`. Except for batches, each key gives access to
 * an answer with a secret (docs/protocol.md §3.2).
 */
const minKeyLength = (operationId: OperationId | undefined) =>
  operationId === 'postEvents' ? 1 : 16;

/** Replaces the secrets of an exchange by names. */
class Redaction {
  readonly #names: SecretNames;
  readonly #operationId: OperationId | undefined;

  constructor(names: SecretNames, operationId: OperationId | undefined) {
    this.#names = names;
    this.#operationId = operationId;
  }

  /**
   * Replaces parts of a path and query that may be secret. Words and UUIDs stay, and numbers in the
   * query.
   */
  path(path: string): string {
    const [before = '', ...rest] = path.split('?');
    const segments = before.split('/');
    const redacted = segments.map((segment, at) => this.#segment(segment, segments[at - 1]));
    const query = rest.length === 0 ? '' : `?${this.#query(rest.join('?'))}`;
    const text = this.#names.inText(redacted.join('/') + query);
    return text.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent);
  }

  headers(headers: CapturedMessage['headers'], allowed: readonly string[]): Record<string, string> {
    return Object.fromEntries(
      allowed.flatMap((name) => {
        const value = headers[name];
        return value === undefined ? [] : [[name, this.#header(name, String(value))]];
      }),
    );
  }

  message(message: CapturedMessage, allowed: readonly string[]): RecordedMessage {
    const { body } = message;
    const headers = this.headers(message.headers, allowed);
    if (body.bytes === 0) return { headers };
    try {
      const { json } = body.parse(message.headers['content-encoding']);
      return { headers, json: this.#json(json) };
    } catch {
      return { headers, bytes: body.bytes, hash: body.hash };
    }
  }

  text(text: string): string {
    return this.#names.inText(text);
  }

  #segment(segment: string, previous: string | undefined): string {
    if (previous === 'provisioning-codes' && segment !== '')
      return this.#names.ofCode(decodeSafely(segment));
    if (previous === 'claims' && segment !== '') return this.#names.ofClaim(decodeSafely(segment));
    if (uuid.test(segment) || word.test(segment)) return segment;
    return this.#private(segment);
  }

  #query(query: string): string {
    const { query: schema }: Partial<Operation> =
      this.#operationId === undefined ? {} : operations[this.#operationId];
    return query
      .split('&')
      .map((pair) => {
        const [name = '', ...values] = pair.split('=');
        const value = values.join('=');
        const isPlain = [uuid, word, number].some((form) => form.test(value));
        const isReadable = isPlain || (schema && word.test(name));
        const shown = isReadable ? this.#member(name, value) : this.#private(value);
        return values.length === 0 ? this.#word(name) : `${this.#word(name)}=${shown}`;
      })
      .join('&');
  }

  #word(text: string): string {
    return word.test(text) ? text : this.#private(text);
  }

  #private(text: string): string {
    return this.#names.ofUnknown(decodeSafely(text));
  }

  #header(name: string, value: string): string {
    if (name === 'idempotency-key')
      return this.#names.ofIdempotencyKey(value, minKeyLength(this.#operationId));
    if (name === 'content-type' && !contentType.test(value)) return this.#private(value);
    if (name !== 'authorization') return this.#names.inText(value);
    const credential = /^bearer +(\S+)$/i.exec(value)?.[1];
    return credential === undefined
      ? this.#private(value)
      : `Bearer ${this.#names.ofCredential(credential)}`;
  }

  #json(value: unknown, member = ''): unknown {
    if (typeof value === 'string') return this.#member(member, value);
    if (typeof value === 'number') {
      const text = this.#member(member, String(value));
      return text === String(value) ? value : text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.#json(one, member));
    const isCredential = credentialMembers.has(plainName(member));
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        this.#names.inText(name),
        this.#json(one, isCredential ? member : name),
      ]),
    );
  }

  /**
   * Replaces the whole value of a member whose name marks it as a secret. In other values, replaces
   * the secrets that they contain.
   */
  #member(member: string, value: string): string {
    if (value === '') return value;
    const name = plainName(member);
    if (credentialMembers.has(name)) return this.#names.ofCredential(value);
    switch (name) {
      case 'pairingcode':
      case 'provisioningcode':
        return this.#names.ofCode(value);
      case 'code':
        return groupedCode.test(value) ? this.#names.ofCode(value) : this.#names.inText(value);
      case 'claim':
        return this.#names.ofClaim(value);
      case 'idempotencykey':
        return this.#names.ofIdempotencyKey(value, 1);
      case 'mac':
      case 'macaddress':
        return this.#names.ofMac(value);
      case 'ip':
      case 'ipaddress':
      case 'lastaddress':
        return this.#names.ofIp(value);
      default:
        return this.#names.inText(value);
    }
  }
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the exchange for the recording: only the allowed headers, and names in place of secrets.
 */
export function redactExchange(
  exchange: CapturedExchange,
  operationId: OperationId | undefined,
  violations: readonly Violation[],
  names: SecretNames,
): RecordedExchange {
  const redaction = new Redaction(names, operationId);
  const { startedMs, tookMs, method, path, request, answer, status, outcome } = exchange;
  const redacted = () => ({
    at: iso(startedMs),
    ms: tookMs,
    operation: operationId ?? null,
    method,
    path: redaction.path(path),
    request: redaction.message(request, requestHeaders),
    status: status ?? null,
    answer: redaction.message(answer, answerHeaders),
    outcome,
    wrong: violations.map((one) => ({
      ...one,
      path: redaction.text(one.path),
      message: redaction.text(one.message),
    })),
  });
  // A text may contain a secret before the header or member that reveals it. So the first pass
  // collects all secrets, and the second pass replaces them.
  redacted();
  return redacted();
}
