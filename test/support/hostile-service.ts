// A service with terminal control characters in every field of every record.
import { type StubService, stubService } from './stub-service.ts';

/** Escape sequences, a terminal title, all kinds of line breaks, and text-direction marks. */
export const hostile =
  'x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\nnext\u2028line\u2029para\u0085\u0000\b\u007f\u202eevil\u2066\u2069\u200f\u061c\ufeff\u200b\u2060\u00ad"\',=<b>';
/** Matches what must not be printed. The program's own line breaks are allowed. */
export const obeyed =
  /[^\P{Cc}\r\n]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/u;

export const hostileId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const labels = { [hostile]: hostile };
const screen = {
  id: hostileId,
  tenantId: hostile,
  venueId: hostile,
  name: hostile,
  labels,
  state: hostile,
  deviceId: hostile,
  provisioningCode: { status: hostile, createdAt: hostile, expiresAt: hostile },
  createdAt: hostile,
  updatedAt: hostile,
};
const infoNames = [
  'manufacturer',
  'model',
  'osVersion',
  'appVersion',
  'macAddress',
  'ipAddress',
  'deviceName',
  'locationHint',
];
const device = {
  id: hostile,
  screenId: hostile,
  state: hostile,
  deviceInfo: Object.fromEntries(infoNames.map((name) => [name, hostile])),
  createdAt: hostile,
  lastSeenAt: hostile,
  lastAddress: hostile,
  lastPlaylistAt: hostile,
  lastPlaylistVersion: 1,
  lastPlaylistStatus: 200,
  lastConfigAt: hostile,
  lastEventAt: hostile,
  online: true,
  suspendedAt: hostile,
  suspendReason: hostile,
};
const code = {
  code: hostile,
  screenId: hostile,
  status: hostile,
  createdAt: hostile,
  expiresAt: hostile,
  expiresInSeconds: 1,
  usedAt: hostile,
  deviceId: hostile,
};
export const hostileTenant = { id: hostile, name: hostile, createdAt: hostile, updatedAt: hostile };
const token = {
  id: hostile,
  tenantId: hostile,
  name: hostile,
  role: hostile,
  createdAt: hostile,
  lastUsedAt: hostile,
  token: hostile,
};
const venue = { ...hostileTenant, tenantId: hostile, address: hostile, timezone: hostile, labels };
const entry = {
  id: hostile,
  at: hostile,
  actor: { kind: hostile, id: hostile, name: hostile },
  action: hostile,
  subject: { kind: hostile, id: hostile },
  address: hostile,
  requestId: hostile,
  details: { [hostile]: hostile },
};
const me = {
  tokenId: hostile,
  name: hostile,
  role: hostile,
  tenantId: hostile,
  tenantName: hostile,
};

/** Records by path prefix. The first match counts. The path of a list returns a page. */
const records: [string, unknown][] = [
  ['/v1/devices/provisioning-codes', code],
  ['/v1/devices', device],
  ['/v1/screens', screen],
  ['/v1/venues', venue],
  ['/v1/tenants', hostileTenant],
  ['/v1/tokens', token],
  ['/v1/audit', entry],
  ['/v1/me', me],
];

function answerTo(method: string, url: string): unknown {
  const path = url.split('?', 1)[0] ?? '';
  if (path.endsWith('/revoke')) return { device, screen };
  const [start, record] = records.find(([prefix]) => path.startsWith(prefix)) ?? ['', {}];
  const isList = method === 'GET' && path === start && start !== '/v1/me';
  return isList ? { items: [record], nextCursor: null } : record;
}

/** Starts the service. While `refusal` is set, it answers every change with it. */
export async function hostileService(): Promise<StubService & { refusal: unknown }> {
  const stub = await stubService((response, { method, url }) => {
    const refused = service.refusal !== undefined && method !== 'GET';
    const body = JSON.stringify(refused ? service.refusal : answerTo(method, url));
    if (method === 'DELETE' && !refused) response.writeHead(204).end();
    else
      response
        .writeHead(refused ? 409 : 200, {
          'content-type': refused ? 'application/problem+json' : 'application/json',
        })
        .end(body);
  });
  const service = { ...stub, refusal: undefined as unknown };
  return service;
}
