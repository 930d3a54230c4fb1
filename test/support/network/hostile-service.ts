// A service with terminal control characters in every field of every record.
import { type StubService, stubService } from './stub-service.ts';

/** Escape sequences, a terminal title, all kinds of line breaks, and text-direction marks. */
export const hostile =
  'x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\nnext\u2028line\u2029para\u0085\u0000\b\u007f\u202eevil\u2066\u2069\u200f\u061c\ufeff\u200b\u2060\u00ad"\',=<b>';
/** Matches what must not be printed. The program's own line breaks are allowed. */
export const obeyed =
  /[^\P{Cc}\r\n]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/u;

export const hostileId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, hostile]));
const places = ['id', 'tenantId', 'venueId', 'screenId', 'deviceId', 'tokenId', 'requestId'];
const times = ['createdAt', 'updatedAt', 'expiresAt', 'usedAt', 'lastUsedAt', 'suspendedAt', 'at'];
const calls = [
  ...['lastSeenAt', 'lastAddress', 'lastPlaylistAt', 'lastConfigAt', 'lastEventAt'],
  'lastRefusedAt',
];
const others = ['name', 'tenantName', 'state', 'status', 'code', 'token', 'role', 'action'];
const infos = ['manufacturer', 'model', 'osVersion', 'appVersion', 'macAddress', 'ipAddress'];

/** Has the members of the records of all kinds. */
const record = {
  ...texts(...places, ...times, ...calls, ...others, 'address', 'timezone', 'suspendReason'),
  hours: [{ days: [hostile], from: hostile, to: hostile }],
  labels: { [hostile]: hostile },
  venueIds: [hostile],
  deviceInfo: texts(...infos, 'deviceName', 'locationHint'),
  provisioningCode: texts('status', 'createdAt', 'expiresAt'),
  lastPlaylistVersion: 1,
  lastPlaylistStatus: 200,
  lastSeq: 1,
  missingEvents: 0,
  conflictingEvents: 0,
  simulated: false,
  online: true,
  expiresInSeconds: 1,
  actor: texts('kind', 'id', 'name'),
  subject: texts('kind', 'id'),
  details: { [hostile]: hostile },
};
export const hostileTenant = record;
const screen = { ...record, id: hostileId };
const status = {
  ...texts('at', 'venueName', 'condition', 'since'),
  reason: texts('code', 'text'),
  playing: texts('creativeId', 'creativeType', 'creativeUrl', 'name', 'since'),
  errors: [texts('creativeId', 'name', 'host', 'reason', 'since', 'at')],
  clock: { offsetSeconds: 3600 },
  screen,
  device: record,
  playlist: null,
};
const answers: Record<string, unknown> = { screens: screen, status };

function answerTo(method: string, url: string): unknown {
  const path = url.split('?', 1)[0] ?? '';
  if (path.endsWith('/revoke')) return { device: record, screen };
  const answer = answers[path.split('/')[2] ?? ''] ?? record;
  const isList = method === 'GET' && /^\/v1\/(?!me$)\w+$/.test(path);
  return isList ? { items: [answer], nextCursor: null } : answer;
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
