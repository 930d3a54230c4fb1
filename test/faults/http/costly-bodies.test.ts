// What is cheap to send must be cheap to refuse: the answers stay small, whatever is wrong with a body.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import { bodyTargets, costlyBodies } from './costly-bodies.ts';

/** They keep, or ignore, members that they do not know (docs/protocol.md §1.7). */
const tolerant = ['putScreenConfig', 'putVenueConfig', 'putTenantConfig', 'revokeDevice'];
const largestRefusal = 32 * 1024;

let service: TestService;
let targets: ReturnType<typeof bodyTargets>;
beforeAll(async () => {
  service = await startService();
  const { screenId, venueId, tenantId, apiKey } = await service.tv();
  const aim = { host: '', token: adminToken, key: apiKey, screenId };
  // One device is revoked: it is not the one that sends events.
  const { deviceId } = await service.tv();
  targets = bodyTargets(aim, { venue: venueId, tenant: tenantId, device: deviceId });
});

describe('a body that costs little to send', () => {
  it.each(costlyBodies)('is refused in less than 32 KiB: %s', async (_, body) => {
    for (const { id, method, path, bearer } of targets) {
      const { status, text, body: problem } = await service.send(method, path, { key: bearer, body });
      expect(tolerant.includes(id) ? [200, 400, 413] : [400, 413], `${id}: ${status}`).toContain(status);
      expect(Buffer.byteLength(text), id).toBeLessThan(largestRefusal);
      expect(problem.errors?.length ?? 0, id).toBeLessThanOrEqual(id === 'postEvents' ? 100 : 20);
    }
  });
});
