// Compares actual responses with the OpenAPI document.

import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import {
  type Operation,
  type OperationId,
  operations,
} from '../../../src/wire/operations/operations.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  type Answered,
  type DescribedAnswers,
  describedAnswers,
  operationOf,
  responseIn,
  systemOperations,
} from '../../support/service/described-answers.ts';
import {
  impression,
  item,
  type Manager,
  manager,
  unknownId,
} from '../../support/service/management.ts';
import { idOf, someFile } from '../../support/service/media.ts';
import {
  type Answer,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { keyFile } from '../../support/statements/seller.ts';

const table = Object.entries<Operation>(operations) as [OperationId, Operation][];
let service: TestService;
let admin: Manager;
let document: Answer['body'];
let described: DescribedAnswers;
const seen: Answered[] = [];

/** Returns the violations of a response against the document. */
const violations = (one: Answered) => described.complaints(one);

/** Sends a request, and records the response. */
async function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const answer = await service.send(method, path, sent);
  const found = operationOf(method, path);
  if (found) seen.push({ ...found, method, answer });
  return answer;
}

const manage = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => send(method, path, { key: admin.token, headers, ...(body === undefined ? {} : { body }) });

/** Refreshes a playlist on a service with an on-demand source. */
async function refreshPlaylist(): Promise<void> {
  const onDemand = (async () => ({ items: [item()] })) as unknown as OnDemandPlaylists;
  const other = await startService({ clock: systemClock, onDemand });
  const path = `/v1/screens/${(await other.screen()).id}/playlist/refresh`;
  const found = operationOf('POST', path);
  const answer = await other.manage('POST', path);
  if (found) seen.push({ ...found, method: 'POST', answer });
}

/** The whole life of a tenant, with successful requests. */
async function runLifecycle(): Promise<void> {
  const { id: tenantId } = (await manage('GET', '/v1/tenants')).body.items[0];
  const inside = { 'X-Tenant-Id': tenantId };
  const { id: spare } = (await manage('POST', '/v1/tenants', { name: 'Spare' })).body;
  await manage('GET', `/v1/tenants/${spare}`);
  await manage('PATCH', `/v1/tenants/${spare}`, { name: 'Spare 2' });
  await manage('GET', '/v1/me');
  await manage('GET', '/v1/venues');
  await manage('DELETE', `/v1/tenants/${spare}`);
  await manage('DELETE', `/v1/tenants/${tenantId}`);
  await manage('GET', '/v1/me', undefined, inside);
  const { id: tokenId } = (
    await manage('POST', '/v1/tokens', { name: 'Night shift', role: 'viewer' })
  ).body;
  await manage('GET', '/v1/tokens');
  await manage('GET', `/v1/tokens/${tokenId}`);
  const venue = (
    await manage('POST', '/v1/venues', {
      name: 'Hall',
      timezone: 'Europe/Berlin',
      labels: { a: '1' },
    })
  ).body;
  await manage('POST', '/v1/venues', { name: 'hall' });
  await manage('GET', `/v1/venues/${venue.id}`);
  await manage('PATCH', `/v1/venues/${venue.id}`, { address: 'Here 1' });
  const screen = (await manage('POST', '/v1/screens', { venueId: venue.id, name: 'Lobby' })).body;
  await manage('PATCH', `/v1/screens/${screen.id}`, { labels: { floor: '2' } });
  for (const path of [
    `/v1/tenants/${tenantId}`,
    `/v1/venues/${venue.id}`,
    `/v1/screens/${screen.id}`,
  ]) {
    await manage('GET', `${path}/config`);
    await manage('PUT', `${path}/config`, { syncIntervalMinutes: 7, theme: { dark: true } });
    await manage('GET', `${path}/config`);
    await manage('DELETE', `${path}/config`);
  }
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const entries = [
    { name: 'Breakfast', days: ['mon'], from: '06:00', to: '11:00', items: [item()] },
    { dates: { from: '2026-12-24', until: '2026-12-26' }, items: [item()] },
    { at: '2026-12-31T23:00:00Z', until: inAnHour + 1e9, items: [item()] },
  ];
  for (const path of [`/v1/venues/${venue.id}`, `/v1/screens/${screen.id}`]) {
    await manage('GET', `${path}/schedule`);
    await manage('PUT', `${path}/schedule`, { entries });
    await manage('GET', `${path}/schedule`);
  }
  const takeover = `/v1/screens/${screen.id}/takeover`;
  await manage('GET', takeover);
  await manage('PUT', takeover, { items: [item()], until: inAnHour });
  await manage('GET', takeover);
  await manage('GET', `/v1/screens/${screen.id}/explain`);
  await manage('DELETE', takeover);
  for (const path of [`/v1/venues/${venue.id}`, `/v1/screens/${screen.id}`])
    await manage('DELETE', `${path}/schedule`);
  const screenIds = [screen.id, crypto.randomUUID()];
  await manage('POST', '/v1/publications', { screenIds, action: 'publish', items: [item()] });
  await manage('POST', '/v1/identify', { screenIds, seconds: 1 });
  await manage('POST', '/v1/reload', { screenIds });
  await pairAndPlay(screen.id);
  await logIn();
  await refreshPlaylist();
  await uploadMedia();
  await bookCampaign();
  await readAndEnd(venue.id, screen.id, tokenId);
}

async function bookCampaign(): Promise<void> {
  const path = '/v1/campaigns/Spring%20sale';
  const days = { from: '2026-12-01', to: '2027-01-01' };
  await manage('PUT', path, { client: 'A client', ...days, bookedPlays: 5, bookedSeconds: 50 });
  await manage('GET', path);
  await manage('GET', '/v1/campaigns');
  await manage('GET', '/v1/reports/impressions');
  await manage('DELETE', path);
}

async function sealStatement(): Promise<void> {
  const campaign = 'summer';
  await manage('POST', '/v1/statements', { campaign, from: '2026-11-10', to: '2026-11-11' });
  const sealed = async () => {
    service.clock.advance(60_000);
    return (await manage('GET', '/v1/statements')).body.items;
  };
  const [{ id }] = await vi.waitUntil(async () => {
    const items = await sealed();
    return items.length > 0 && items;
  });
  await manage('GET', `/v1/statements/rows?id=${encodeURIComponent(id)}`);
  await manage('POST', '/v1/statements/resume', { campaign, newLog: 'two' });
  await send('GET', `/statement-keys/${(await manage('GET', '/v1/me')).body.tenantId}`);
}

async function uploadMedia(): Promise<void> {
  const file = someFile(1, 300_000);
  const path = `/v1/media/${idOf(file)}`;
  const put = (query: string, body: Uint8Array) => manage('PUT', path + query, body);
  await put('?offset=262144&size=300000', file.subarray(262_144));
  await put('?offset=0&size=300000', file.subarray(0, 262_144));
  await manage('GET', `${path}/upload`);
  await put('', Buffer.from('text'));
  await put('', someFile(2));
  await put('?name=Menu.svg', file);
  await put('', file);
  await manage('GET', '/v1/media');
  await manage('GET', path);
  await manage('DELETE', path);
}

async function logIn(): Promise<void> {
  const body = { user: 'alice', host: 'front-desk' };
  const { code, secret: key } = (await send('POST', '/v1/logins', { body })).body;
  const path = `/v1/logins/${code}`;
  await send('POST', '/v1/logins', { body: { user: '\u001b' } });
  await send('GET', `${path}/status`, { key });
  await send('GET', `${path}/status`);
  await manage('GET', path);
  await manage('GET', '/v1/logins/AAAAAAAA');
  const approval = { name: 'Alice', role: 'viewer', expiresAt: '2100-01-01', allVenues: true };
  for (let times = 0; times < 2; times++) await manage('POST', `${path}/approve`, approval);
  await send('GET', `${path}/status`, { key });
  await send('DELETE', path, { key });
  await send('DELETE', path, { key });
}

async function pairAndPlay(screenId: string): Promise<void> {
  const makeCode = async () =>
    (await manage('POST', '/v1/devices/provisioning-codes', { screenId })).body.code;
  const cancelled = await makeCode();
  await manage('DELETE', `/v1/devices/provisioning-codes/${cancelled}`);
  await manage('DELETE', `/v1/devices/provisioning-codes/${cancelled}`);
  const { claim, token } = (
    await send('POST', '/devices/claims', { body: { deviceInfo: { model: 'TV' } } })
  ).body;
  await send('GET', `/devices/claims/${claim}`, { key: token });
  const { id } = (await manage('POST', '/v1/tickets', { screenId })).body;
  await manage('GET', `/v1/tickets/${id}`);
  await manage('GET', `/v1/tickets/${unknownId}`);
  await manage('DELETE', `/v1/tickets/${id}`);
  await send('GET', `/devices/claims/${claim}`);
  await manage('GET', `/v1/devices/claims/${claim}`);
  await manage('GET', '/v1/devices/claims/AAAAAA');
  for (let times = 0; times < 2; times++)
    await manage('POST', `/v1/devices/claims/${claim}/offer`, { screenId });
  await send('GET', `/devices/claims/${claim}`, { key: token });
  const code = await makeCode();
  await manage('GET', `/v1/devices/provisioning-codes/${code}/status`);
  const pair = (pairingCode: string, deviceInfo: unknown = {}) =>
    send('POST', '/devices/register', { body: { pairingCode, deviceInfo } });
  await pair('AAAAAAAA');
  await pair(cancelled);
  await pair(code, { macAddress: 'x' });
  const { apiKey: key, deviceId } = (await pair(code, { model: 'QM55C' })).body;
  await pair(code);
  await makeCode();
  await manage('GET', `/v1/devices/provisioning-codes/${code}/status`);
  await manage('GET', `/v1/screens/${screenId}/playlist`);
  await send('GET', `/devices/${screenId}/playlist`, { key });
  await manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()], validUntil: null });
  await manage('PUT', `/v1/screens/${screenId}/playlist`, {
    items: [item({ campaignId: 'x' })],
    validUntil: 4_000_000_000,
  });
  await manage('GET', `/v1/screens/${screenId}/playlist`);
  await manage('GET', `/v1/screens/${screenId}/playlists`);
  for (const what of ['playlist', 'config']) {
    const { headers } = await send('GET', `/devices/${screenId}/${what}`, { key });
    await send('GET', `/devices/${screenId}/${what}`, {
      key,
      headers: { 'If-None-Match': headers.get('etag')! },
    });
    await send('GET', `/devices/${unknownId}/${what}`, { key });
  }
  await send('GET', `/devices/${screenId}/changes?waitSeconds=1`, { key });
  await send('POST', `/devices/${screenId}/events`, {
    key,
    body: [impression(), { type: 'log', timestamp: 1, text: 'x' }],
  });
  await send('POST', `/devices/${screenId}/events`, { key, body: [] });
  await send('POST', `/devices/${screenId}/events`, { body: [] });
  const rotate = (rotation: string) =>
    send('POST', `/devices/${screenId}/keys/rotate`, {
      key,
      headers: { 'Idempotency-Key': rotation },
    });
  for (const rotation of ['a-key-of-16-chars', 'another-of-16-chars', 'a-key-of-16-chars', 'short'])
    await rotate(rotation);
  await manage('GET', `/v1/devices/${deviceId}`);
  await manage('GET', '/v1/devices?online=true');
  await manage('DELETE', `/v1/screens/${screenId}`);
  await manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'stolen' });
}

async function readAndEnd(venueId: string, screenId: string, tokenId: string): Promise<void> {
  await manage('GET', '/v1/events?limit=1');
  for (const groupBy of ['campaign', 'creative', 'entry', 'screen', 'venue', 'day'])
    await manage('GET', `/v1/reports/impressions?groupBy=${groupBy}`);
  await manage('GET', '/v1/reports/impressions', undefined, { Accept: 'text/csv' });
  await manage('GET', '/v1/audit?limit=200');
  await manage('GET', '/v1/mirror?state=ok&limit=1');
  await manage('GET', '/v1/mirror');
  await manage('POST', '/v1/mirror/repair');
  await manage('GET', `/v1/screens/${screenId}`);
  await manage('GET', '/v1/screens?label=floor:2');
  await manage('DELETE', `/v1/venues/${venueId}`);
  await manage('DELETE', `/v1/screens/${screenId}/playlist`);
  await manage('DELETE', `/v1/screens/${screenId}`);
  await manage('DELETE', `/v1/venues/${venueId}`);
  await manage('GET', '/v1/venues');
  const url = 'https://localhost:9/';
  const hook = `/v1/webhooks/${(await manage('POST', '/v1/webhooks', { url })).body.id}`;
  await manage('GET', '/v1/webhooks');
  await manage('GET', hook);
  await manage('PATCH', hook, { name: 'Chat' });
  await manage('POST', `${hook}/secret`);
  await manage('POST', `${hook}/test`);
  await manage('GET', `${hook}/deliveries`);
  await manage('POST', `${hook}/redeliver`, { noticeIds: [tokenId] });
  await manage('DELETE', hook);
  await sealStatement();
  await manage('POST', `/v1/tokens/${tokenId}/rotate`);
  await manage('DELETE', `/v1/tokens/${tokenId}`);
  await manage('DELETE', `/v1/tokens/${(await manage('GET', '/v1/me')).body.tokenId}`);
  for (const path of Object.keys(systemOperations)) await send('GET', path);
}

/**
 * Other errors of each operation: no credential, no permission, unknown record, unknown parameter,
 * invalid body.
 */
async function sendInvalidRequests(): Promise<void> {
  const viewer = await admin.as('viewer');
  const unknown = (path: string) => path.replace(':id', unknownId).replace(':code', 'ZZZZZZZZ');
  for (const [, { method, path, body, query }] of table) {
    await send(method, unknown(path), body ? { body: {} } : {});
    if (!path.startsWith('/v1/')) continue;
    await send(method, unknown(path), { key: 'mak_x', ...(body ? { body: {} } : {}) });
    await send(method, unknown(path), { key: viewer.token, ...(body ? { body: {} } : {}) });
    await manage(method, unknown(path), body ? { nonsense: 1 } : undefined);
    await manage(method, unknown(path), body ? {} : undefined, { 'X-Tenant-Id': unknownId });
    if (body) await manage(method, unknown(path), '{');
    if (body) await manage(method, unknown(path), '{}', { 'Content-Type': 'text/plain' });
    if (query) await manage(method, `${unknown(path)}?nonsense=1`, body ? {} : undefined);
  }
}

beforeAll(async () => {
  service = await startService({
    objectStore: pathToFileURL(await temporaryFolder()).href,
    statementKeyFile: await keyFile(),
  });
  admin = manager(service);
  document = (await service.send('GET', '/openapi.json')).body;
  described = describedAnswers(document);
  await runLifecycle();
  await sendInvalidRequests();
});

describe('the OpenAPI document', () => {
  it.each(table)('describes the success response of %s', (id, { status }) => {
    const answers = seen.filter((one) => one.operation === id && one.answer.status === status);
    expect(answers).not.toEqual([]);
    expect(answers.flatMap(violations)).toEqual([]);
  });

  it.each(table)('describes the error responses of %s with each code', (id) => {
    const refusals = seen.filter((one) => one.operation === id && one.answer.status >= 300);
    expect(refusals).not.toEqual([]);
    expect(refusals.flatMap(violations)).toEqual([]);
    for (const { method, path, answer } of refusals.filter((one) => one.answer.status >= 400)) {
      const { response } = responseIn(document, path, method, answer.status);
      expect(Object.keys(response.content['application/problem+json'].examples)).toContain(
        answer.body.code,
      );
    }
  });

  it.each(Object.entries(systemOperations))('describes the response of %s', (_, operation) => {
    const answers = seen.filter((one) => one.operation === operation);
    expect(answers).not.toEqual([]);
    expect(answers.flatMap(violations)).toEqual([]);
  });

  it('does not describe other responses', () => {
    const one = seen.find(
      ({ operation, answer }) => operation === 'getVenue' && answer.status === 200,
    )!;
    const other = (answer: Partial<Answer>) =>
      violations({ ...one, answer: { ...one.answer, ...answer } });
    expect(other({})).toEqual([]);
    expect(other({ body: { ...one.answer.body, name: 5 } })).toHaveLength(1);
    expect(other({ status: 418 })).toEqual(['418 is not described']);
    expect(other({ headers: new Headers({ 'Content-Type': 'text/html' }) })).not.toEqual([]);
    const more = new Headers(one.answer.headers);
    more.set('X-Powered-By', 'x');
    expect(other({ headers: more })).toEqual(['the header x-powered-by is not described']);
  });

  it('is checked against most possible responses', () => {
    const kinds = new Set(
      seen.map(({ operation, answer }) => `${operation} ${answer.body?.code ?? answer.status}`),
    );
    expect(kinds.size).toBeGreaterThan(200);
  });
});
