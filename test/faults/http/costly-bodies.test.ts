// Errors for bodies that are cheap to send must be small and cheap.

import { beforeAll, describe, expect, it } from 'vitest';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import type { Aim } from './attack.ts';

const mebibyte = 1024 * 1024;

/** Repeats `part` between `before` and `after` up to 1 MiB. */
function filled(before: string, part: (index: number) => string, after: string): string {
  const parts: string[] = [];
  let size = before.length + after.length;
  for (let index = 0; ; index++) {
    const next = part(index);
    size += Buffer.byteLength(next) + 1;
    if (size > mebibyte) break;
    parts.push(next);
  }
  return before + parts.join(',') + after;
}

const controls = '\\u0001'.repeat(1000);
const wrongItem = {
  creativeId: 'x'.repeat(300),
  creativeUrl: 'ftp://x y',
  creativeType: 7,
  duration: -1,
};
const json = JSON.stringify;

/**
 * Bodies that are cheap to send. Only operations that keep or ignore unknown members accept any of
 * them.
 */
const costlyBodies: readonly (readonly [name: string, body: string])[] = [
  ['350,000 empty objects', filled('[', () => '{}', ']')],
  ['350,000 empty objects as items', filled('{"items":[', () => '{}', ']}')],
  ['20,000 empty objects', `[${Array(20_000).fill('{}').join(',')}]`],
  ['20,000 empty objects as items', `{"items":[${Array(20_000).fill('{}').join(',')}]}`],
  ['350,000 empty objects, and an escape', filled('["\\u0041",', () => '{}', ']')],
  ['500,000 numbers', filled('[', () => '1', ']')],
  [
    '500,000 numbers as venue ids',
    filled('{"name":"x","role":"viewer","venueIds":[', () => '1', ']}'),
  ],
  ['80,000 unknown members', filled('{', (n) => `"m${n}":0`, '}')],
  [
    '900 unknown members',
    json(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`m${n}`, n]))),
  ],
  ['80,000 labels', filled('{"name":"x","labels":{', (n) => `"m${n}":0`, '}}')],
  [
    '900 labels that are wrong',
    json({
      name: 'x',
      labels: Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`:${n}`, n])),
    }),
  ],
  ['100,000 times the same member', filled('{', () => '"m":{}', '}')],
  ['100,000 members named __proto__', filled('{', () => '"__proto__":{}', '}')],
  ['a member with a name of 1 MiB', `{"${'m'.repeat(mebibyte - 10)}":0}`],
  ['members with long names of control characters', filled('{', (n) => `"${n}${controls}":0`, '}')],
  ['a name of 1 MiB', `{"name":"${'x'.repeat(mebibyte - 20)}"}`],
  ['a number of 1 MiB', `{"name":${'9'.repeat(mebibyte - 20)}}`],
  ['a number of 1 MiB as an end', `{"items":[],"validUntil":${'9'.repeat(mebibyte - 40)}}`],
  ['1 MiB of nested arrays', `${'['.repeat(mebibyte / 2)}${']'.repeat(mebibyte / 2)}`],
  ['1 MiB of opening brackets', '['.repeat(mebibyte)],
  ['16,000 times 64 nested arrays', filled('[', () => '['.repeat(63) + ']'.repeat(63), ']')],
  [
    '500 items that are wrong in many ways',
    json({ items: Array(500).fill(wrongItem), validUntil: 'x', [controls]: 1 }),
  ],
  ['500 items of a wrong kind', json({ items: Array(500).fill('x') })],
  [
    '500 items with long URLs',
    json({ items: Array(500).fill(item({ creativeUrl: `https://x/${'ä'.repeat(900)}` })) }),
  ],
  [
    '100 events that are wrong in many ways',
    json(Array(100).fill({ type: 7, timestamp: 'x', playlistId: 1, creativeId: 2, campaignId: 3 })),
  ],
  ['100 events of a wrong kind', json(Array(100).fill(controls))],
  [
    '100 wrong events with 900 members each',
    json(Array(100).fill(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`m${n}`, n])))),
  ],
  [
    'a config with 5,000 members',
    filled('{"cachePolicy":0,', (n) => `"m${n}":0`, '}')
      .slice(0, 60_000)
      .replace(/,[^,]*$/, '}'),
  ],
  ['1 MiB of white space', ' '.repeat(mebibyte)],
  ['1 MiB of backslashes', `"${'\\'.repeat(mebibyte - 2)}"`],
];

/** Returns the operations with a body, each with a credential and a path. */
function bodyTargets({ token, key, screenId }: Aim, ids: Partial<Record<string, string>>) {
  // The claim or login in a path is looked up before the body is read.
  const all = Object.entries<Operation>(operations).filter(
    ([, { body, record }]) => body !== undefined && record !== 'claim' && record !== 'login',
  );
  return all.map(([id, { method, path, access, record = 'screen' }]) => ({
    id,
    method,
    path: path.replace(':id', ids[record] ?? screenId),
    bearer: access === 'device' ? key : token,
  }));
}

/** Operations that keep or ignore unknown members (docs/protocol.md §1.7). */
const tolerant = ['putScreenConfig', 'putVenueConfig', 'putTenantConfig', 'revokeDevice'];
/** One operation of each kind of limit. Only these get large bodies. */
const representative = [
  'createVenue',
  'createToken',
  'publishPlaylist',
  'postEvents',
  'registerDevice',
  'putScreenConfig',
];
const largestRefusal = 32 * 1024;

let service: TestService;
let targets: ReturnType<typeof bodyTargets>;
beforeAll(async () => {
  service = await startService();
  const { screenId, venueId, tenantId, apiKey } = await service.tv();
  const aim = { host: '', token: adminToken, key: apiKey, screenId };
  // Another device than the one that sends events is revoked.
  const { deviceId } = await service.tv();
  const given = { key: adminToken, body: { url: 'https://localhost:9/' } };
  const { id: webhook } = (await service.send('POST', '/v1/webhooks', given)).body;
  targets = bodyTargets(aim, { venue: venueId, tenant: tenantId, device: deviceId, webhook });
});

const queries: readonly (readonly [name: string, query: string])[] = [
  ['1,000 unknown parameters', Array.from({ length: 1000 }, (_, n) => `p${n}`).join('&')],
  ['the same parameter 1,200 times', Array.from({ length: 1200 }, () => 'limit').join('&')],
  ['700 labels that are none', Array.from({ length: 700 }, () => 'label=a').join('&')],
  ['a name of control characters', `${'%01'.repeat(2500)}=1`],
  ['a value of control characters', `cursor=${'%01'.repeat(2500)}`],
  ['a value that is no number', `limit=${'9'.repeat(7000)}`],
];

describe('a query that is cheap to send', () => {
  it.each(queries)('is refused in less than 32 KiB: %s', async (_, query) => {
    for (const path of ['/v1/screens', '/v1/events', '/v1/audit', '/v1/reports/impressions']) {
      const { status, text, body } = await service.send('GET', `${path}?${query}`, {
        key: adminToken,
      });
      expect(status, path).toBe(400);
      expect(Buffer.byteLength(text), path).toBeLessThan(largestRefusal);
      expect(body.errors.length, path).toBeLessThanOrEqual(20);
    }
  });
});

describe('a body that is cheap to send', () => {
  it.each(costlyBodies)('is refused in less than 32 KiB: %s', async (_, body) => {
    const isLarge = body.length > 256 * 1024;
    for (const { id, method, path, bearer } of targets.filter(
      (target) => !isLarge || representative.includes(target.id),
    )) {
      const {
        status,
        text,
        body: problem,
      } = await service.send(method, path, { key: bearer, body });
      expect(tolerant.includes(id) ? [200, 400, 413] : [400, 413], `${id}: ${status}`).toContain(
        status,
      );
      expect(Buffer.byteLength(text), id).toBeLessThan(largestRefusal);
      expect(problem.errors?.length ?? 0, id).toBeLessThanOrEqual(id === 'postEvents' ? 100 : 20);
    }
  });
});
