// Callers of the management API, and checks of their answers.
import { expect } from 'vitest';
import { errorKinds, type ServiceErrorCode } from '../../../src/wire/errors.ts';
import * as content from './content.ts';
import type { Answer, Sent, TestService } from './service.ts';

export const adminToken = 'mak_TheTokenThatEveryTestStartsWith';

/** Returns a caller with a token. With `tenantId`, it sends `X-Tenant-Id`. */
export function manager(service: Pick<TestService, 'send'>, token = adminToken, tenantId?: string) {
  const own: Record<string, string> = tenantId === undefined ? {} : { 'X-Tenant-Id': tenantId };
  const send = (method: string, path: string, sent: Sent = {}) =>
    service.send(method, path, { key: token, ...sent, headers: { ...own, ...sent.headers } });
  const made = async (path: string, body: unknown) => {
    const answer = await send('POST', path, { body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  const tokenOf = async (role: string) =>
    (await made('/v1/tokens', { name: `${role} ${crypto.randomUUID()}`, role })).token;
  return {
    token,
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown) => send('POST', path, { body }),
    put: (path: string, body?: unknown) => send('PUT', path, { body }),
    patch: (path: string, body?: unknown) => send('PATCH', path, { body }),
    delete: (path: string) => send('DELETE', path),
    /** The following create a record and expect success. */
    tenant: (name: string) => made('/v1/tenants', { name }),
    venue: (name: string, more: object = {}) => made('/v1/venues', { name, ...more }),
    screen: (venueId: string, name: string, more: object = {}) =>
      made('/v1/screens', { venueId, name, ...more }),
    code: (screenId: string) => made('/v1/devices/provisioning-codes', { screenId }),
    newToken: (creation: object) => made('/v1/tokens', creation),
    async tv(screenId: string): Promise<{ deviceId: string; screenId: string; apiKey: string }> {
      const { code } = await made('/v1/devices/provisioning-codes', { screenId });
      const body = { pairingCode: code, deviceInfo: {} };
      const answer = await service.send('POST', '/devices/register', { body });
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
    /** Returns the same caller with another tenant. */
    in: (id: string) => manager(service, token, id),
    /** Returns a caller with a new token of this role in the same tenant. */
    as: async (role: string) =>
      manager(service, await tokenOf(role), role === 'platform' ? tenantId : undefined),
  };
}

export type Manager = ReturnType<typeof manager>;

type Fields = Record<string, unknown> & { venueId?: string };

/** Returns functions that create a record, with all parents that are not given. */
export function recordMaker(caller: () => Manager) {
  let count = 0;
  const venue = (fields: Fields = {}) => caller().venue(`Venue ${++count}`, fields);
  const screen = async ({ venueId, ...fields }: Fields = {}) =>
    caller().screen(venueId ?? (await venue()).id, `Screen ${++count}`, fields);
  const code = async (screenId?: string) => caller().code(screenId ?? (await screen()).id);
  return { venue, screen, code };
}

/** Expects a complete problem document with this code. */
export function expectProblem(answer: Answer, code: ServiceErrorCode, members: object = {}): void {
  const { status, title } = errorKinds[code];
  expect(answer.body, answer.text).toMatchObject({
    type: 'about:blank',
    status,
    title,
    code,
    ...members,
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body.detail).toEqual(expect.any(String));
  expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
}

/** Expects `invalid_request` with exactly these paths. */
export function expectInvalid(answer: Answer, ...paths: string[]): void {
  expectProblem(answer, 'invalid_request');
  expect(answer.body.errors.map((error: { path: string }) => error.path).toSorted()).toEqual(
    paths.toSorted(),
  );
  for (const { message } of answer.body.errors) expect(message).toMatch(/\w/);
}

/** Reads all pages of a list, with `limit` items each. */
export async function walk(
  caller: Manager,
  path: string,
  limit: number,
): Promise<{ pages: number; items: Answer['body'][] }> {
  const items: Answer['body'][] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { status, body, text } = await caller.get(
      `${path}${path.includes('?') ? '&' : '?'}${query}`,
    );
    expect(status, text).toBe(200);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    items.push(...body.items);
    cursor = body.nextCursor;
  }
  return { pages, items };
}

/** Returns the audit entries that `work` writes, oldest first. */
export async function auditOf(
  reader: Manager,
  work: () => Promise<unknown>,
): Promise<Answer['body'][]> {
  const before = new Set((await walk(reader, '/v1/audit', 200)).items.map(({ id }) => id));
  await work();
  return (await walk(reader, '/v1/audit', 200)).items
    .filter(({ id }) => !before.has(id))
    .toReversed();
}

/** The id of no record. */
export const unknownId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/** A playlist item with a fixed id. */
export const item = (more: object = {}) =>
  content.item({ creativeId: '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c', ...more });

/** An impression event with fixed ids. */
export const impression = (more: object = {}) =>
  content.impression({
    timestamp: 1_790_000_000,
    playlistId: '11111111-1111-4111-8111-111111111111',
    creativeId: '22222222-2222-4222-8222-222222222222',
    campaignId: '33333333-3333-4333-8333-333333333333',
    ...more,
  });
