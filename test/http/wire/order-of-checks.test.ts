// The order of checks of every operation (docs/protocol.md §1.3). Each request is wrong in one way,
// and in all ways that are checked later.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceErrorCode } from '../../../src/wire/errors.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import { adminToken, expectProblem, manager, unknownId } from '../../support/service/management.ts';
import {
  type BoundTv,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const table = Object.entries<Operation>(operations);
const defaultLimit = 1024 * 1024;
const foreignType = { 'content-type': 'text/plain' };
const badKey = { 'idempotency-key': 'é' };

let service: TestService;
let _viewer: string;
let tv: BoundTv;
beforeAll(async () => {
  service = await startService();
  tv = await service.tv();
  _viewer = (await manager(service).in(tv.tenantId).as('viewer')).token;
});

/** A body over the limit and of another type, for operations that take a body. */
const large = ({ body, bodyLimit = defaultLimit }: Operation): Sent =>
  body ? { body: 'x'.repeat(bodyLimit + 1), headers: foreignType } : {};

const send = ({ method, path }: Operation, sent: Sent, id = unknownId, query = '') =>
  service.send(method, path.replace(/:(id|name|code|claim)/, id) + query, sent);

/** Sends an operation with a good credential. The record in its path is unknown. */
function sendAuthenticated(operation: Operation, sent: Sent, query?: string) {
  const { access } = operation;
  if (access === 'device') return send(operation, { key: tv.apiKey, ...sent }, tv.screenId, query);
  return send(
    operation,
    access === 'public' ? sent : { key: adminToken, ...sent },
    unknownId,
    query,
  );
}

describe('the order of checks', () => {
  it.each(table.filter(([, { access }]) => access === 'device'))(
    '%s: 401 for the key, then for the id, before the body',
    async (_, operation) => {
      const sent = large(operation);
      expectProblem(await send(operation, sent), 'device_key_missing');
      expectProblem(await send(operation, { ...sent, key: adminToken }), 'device_key_invalid');
      expectProblem(await send(operation, { ...sent, key: tv.apiKey }), 'device_key_mismatch');
    },
  );

  it.each(table.filter(([, { body }]) => body))(
    '%s: 413 for the size, 415 for the type, 400 for the JSON, before record and key',
    async (_, operation) => {
      const inOrder: [Sent, ServiceErrorCode][] = [
        [large(operation), 'body_too_large'],
        [{ body: '{', headers: foreignType }, 'unsupported_media_type'],
        [{ body: '{', headers: badKey }, 'invalid_json'],
      ];
      if (!operation.bodyOptional) inOrder.push([{ headers: foreignType }, 'invalid_json']);
      for (const [sent, code] of inOrder)
        expectProblem(await sendAuthenticated(operation, sent), code);
    },
  );

  it.each(table.filter(([, { record, body, query }]) => record && (body || query)))(
    '%s: 404 for the record before query and body',
    async (_, operation) => {
      const sent = operation.body ? { body: { nonsense: 1 }, headers: badKey } : {};
      const answer = await sendAuthenticated(operation, sent, '?nonsense=1');
      expectProblem(answer, `${operation.record}_not_found` as ServiceErrorCode);
    },
  );

  it.each(table.filter(([, { record, query, access }]) => query && !record && access !== 'device'))(
    '%s: 400 for an unknown parameter',
    async (_, operation) => {
      const answer = await sendAuthenticated(operation, {}, '?nonsense=1');
      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors).toMatchObject([{ path: 'query.nonsense' }]);
    },
  );

  it('a registration: 400 for body and key before the state of the code', async () => {
    const register = (deviceInfo: unknown, headers = {}) =>
      service.register(tv.code, { deviceInfo, headers });
    expectProblem(await register(1), 'invalid_request');
    expectProblem(await register({}, badKey), 'invalid_request');
    expectProblem(await register({}), 'pairing_code_used');
  });
});
