import { SignageError } from '../../../domain/error.ts';
import { maxEventBytes } from '../../../domain/events/event.ts';
import { jsonPointer, wrongMembers } from '../../../domain/json/schema-issue.ts';
import {
  type Operation,
  type OperationId,
  operations,
} from '../../../wire/operations/operations.ts';
import { type SchemaName, schemas } from '../../../wire/schemas.ts';
import type { CapturedExchange, CapturedMessage, Route } from './captured-exchange.ts';
import type { Violation } from './recording.ts';

/** Sections of docs/protocol.md for single operations. Default: §5. */
const sections: Partial<Record<OperationId, string>> = {
  registerDevice: '3.1',
  getPlaylist: '2.3',
  getDeviceConfig: '2.4',
  getDeviceChanges: '2.9',
  postEvents: '2.5',
  rotateDeviceKey: '2.8',
  createClaim: '3.6',
  getClaimStatus: '3.6',
  getClaim: '3.6',
  offerClaim: '3.6',
  createCode: '4',
};

/** Maximum number of violations for a request, and for an answer. */
const maxViolations = 20;
const defaultBodyLimit = 1024 * 1024;
const jsonType = /^application\/(?:[^\s;]+\+)?json\s*(?:;|$)/i;
const eventsKey = /^[\x20-\x7e]{1,255}$/;
const secretKey = /^[\x21-\x7e]{16,255}$/;

const nameOrIndex = /^(?:\d{1,4}|[a-z][a-zA-Z]{0,39})$/;

class Violations {
  readonly list: Violation[] = [];
  readonly #in: Violation['in'];

  constructor(where: Violation['in']) {
    this.#in = where;
  }

  add(section: string, path: string, message: string): void {
    if (this.list.length < maxViolations) this.list.push({ in: this.#in, path, message, section });
  }

  /**
   * Adds the violations of a schema. With `prefix`, their paths are `query.<name>`. Otherwise the
   * paths are JSON Pointers into the body. A name in a path that is not like one of the protocol's
   * is shown as `?`: it may be a secret.
   */
  validate(section: string, name: SchemaName, value: unknown, prefix?: 'query'): void {
    const { error } = schemas[name].safeParse(value);
    for (const issue of error?.issues ?? []) {
      for (const { path, message } of wrongMembers(issue, 'is unknown: check its spelling')) {
        const shown = path.map((part) => (nameOrIndex.test(String(part)) ? part : '?'));
        const place = prefix ? `query.${shown.map(String).join('.')}` : jsonPointer(shown);
        this.add(section, place, message);
      }
    }
  }
}

/** Returns the parsed body. Adds a violation if the body is not JSON. */
function parsed({ headers, body }: CapturedMessage, found: Violations, section: string) {
  try {
    return body.parse(headers['content-encoding']);
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    found.add(section, '', error.message);
    return undefined;
  }
}

function checkBody(operationId: OperationId, request: CapturedMessage, found: Violations): void {
  const {
    body: schema,
    bodyOptional,
    bodyLimit = defaultBodyLimit,
  }: Operation = operations[operationId];
  const { headers, body } = request;
  const section = sections[operationId] ?? '5';
  if (!schema || (body.bytes === 0 && bodyOptional)) return;
  if (body.bytes > bodyLimit) {
    found.add('1.7', '', `has ${body.bytes} bytes; at most ${bodyLimit} are allowed`);
    return;
  }
  const type = headers['content-type'];
  if (type !== undefined && !jsonType.test(type))
    found.add('1.1', 'header.content-type', 'must be application/json');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    found.add('1.1', 'header.content-encoding', 'must be absent: requests are not compressed');
    return;
  }
  const content = parsed(request, found, '1.1');
  if (!content) return;
  found.validate(section, schema, content.json);
  if (schema !== 'eventBatch') return;
  for (const [at, bytes] of content.scan.elements.entries())
    if (bytes > maxEventBytes)
      found.add(section, `/${at}`, `has ${bytes} bytes; at most ${maxEventBytes} are allowed`);
}

function checkHeaders(operationId: OperationId, request: CapturedMessage, found: Violations): void {
  const { access }: Operation = operations[operationId];
  const { authorization, 'idempotency-key': key } = request.headers;
  if (access === 'device' && authorization === undefined)
    found.add('2.1', 'header.authorization', 'is missing: send "Bearer" and the device key');
  if (access === 'device' && authorization !== undefined && !/^bearer +\S+$/i.test(authorization))
    found.add('2.1', 'header.authorization', 'must be "Bearer" and the device key');
  if (operationId === 'postEvents') {
    if (key === undefined)
      found.add(
        '2.5',
        'header.idempotency-key',
        'is missing: a repeated batch would be stored twice',
      );
    else if (!eventsKey.test(String(key)))
      found.add('2.5', 'header.idempotency-key', 'must be 1 to 255 printable ASCII characters');
  } else if (key !== undefined && !secretKey.test(String(key)))
    found.add('3.2', 'header.idempotency-key', 'must be 16 to 255 visible ASCII characters');
}

/** Returns the query as an object, as the schemas expect it. A repeated name is a list. */
function queryOf(path: string): Record<string, string | string[]> {
  const search = new URLSearchParams(path.split('?').slice(1).join('?'));
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

function checkRequest({ path, request }: CapturedExchange, route: Route): Violation[] {
  const found = new Violations('request');
  const { operationId, methods } = route;
  if (operationId === undefined) {
    if (methods.length > 0) found.add('1.3', 'method', `must be ${methods.join(' or ')}`);
    else if (/^\/(?:devices|v1)(?:[/?]|$)/.test(path))
      found.add('2', 'path', 'is not the path of an endpoint');
    return found.list;
  }
  const { query }: Operation = operations[operationId];
  checkHeaders(operationId, request, found);
  if (query) found.validate(sections[operationId] ?? '5', query, queryOf(path), 'query');
  checkBody(operationId, request, found);
  return found.list;
}

function checkAnswer({ method, status, answer }: CapturedExchange, { operationId }: Route) {
  const found = new Violations('answer');
  if (operationId === undefined || status === undefined) return found.list;
  const { status: success, answer: schema, conditional }: Operation = operations[operationId];
  const section = sections[operationId] ?? '5';
  const isError = status >= 400;
  if (!isError && status !== success && !(conditional && status === 304))
    found.add(section, 'status', `must be ${success}, or an error status`);
  // Answers above 1 MiB, such as backups, are not recorded.
  if (method === 'HEAD' || status === 304 || answer.body.isTooLarge) return found.list;
  const expected = isError ? 'problem' : status === success ? schema : undefined;
  if (!expected) return found.list;
  const content = parsed(answer, found, isError ? '1.4' : section);
  if (content) found.validate(isError ? '1.4' : section, expected, content.json);
  return found.list;
}

/**
 * Checks the request and the answer against the schemas of the protocol. Does not check a message
 * that did not arrive completely. Returns at most 20 violations for the request, and 20 for the
 * answer.
 */
export function checkExchange(exchange: CapturedExchange, route: Route): Violation[] {
  const { outcome } = exchange;
  return [
    ...(outcome === 'request_cut' ? [] : checkRequest(exchange, route)),
    ...(outcome === 'answered' ? checkAnswer(exchange, route) : []),
  ];
}
