// Errors for bodies that are cheap to send must be small and cheap.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import { bodyTargets, costlyBodies } from './costly-bodies.ts';

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
  targets = bodyTargets(aim, { venue: venueId, tenant: tenantId, device: deviceId });
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
