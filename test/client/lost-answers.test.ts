// Creations whose answers are lost on the way back (docs/protocol.md §5.11).
import { describe, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { startProxy } from '../support/intervening-proxy.ts';
import { freshDatabase } from '../support/postgres.ts';
import { adminToken, startService } from '../support/service.ts';

const atOnce = 8;
/** Starts a service behind a proxy that loses the first answer to each `Idempotency-Key`. */
async function startLossy(store: string) {
  const service = await startService({ store, clock: systemClock });
  let lost = 0;
  const seen = new Set<string>();
  const proxy = await startProxy(service.url, {
    loses(line, headers) {
      const key = headers['idempotency-key'];
      if (typeof key !== 'string' || seen.has(key)) return false;
      expect(line).toMatch(/^POST \/v1\//);
      seen.add(key);
      lost++;
      return true;
    },
  });
  const { tenantId } = (await service.manage('GET', '/v1/me')).body;
  const client = new ManagementClient({
    url: proxy.url,
    token: adminToken,
    tenantId,
    retry: { firstDelayMs: 1 },
  });
  return {
    client,
    direct: new ManagementClient({ url: service.url, token: adminToken, tenantId }),
    lost: () => lost,
  };
}

async function countOf(list: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of list) count++;
  return count;
}

/** A round has five creations, each of which loses its first answer. */
describe.each([
  ['300', 'the embedded store', 60, async () => 'memory:'],
  ['200', 'PostgreSQL', 40, freshDatabase],
])('%s lost answers of creations on %s', (_, __, rounds, storeUrl) => {
  it('create nothing twice, and every caller gets its record', { timeout: 120_000 }, async () => {
    const { client, direct, lost } = await startLossy(await storeUrl());
    const secrets = new Set<string>();

    async function createAll(n: number): Promise<void> {
      await client.call('createTenant', { body: { name: `Tenant ${n}` } });
      const venue = await client.call('createVenue', { body: { name: `Venue ${n}` } });
      const screen = await client.call('createScreen', {
        body: { venueId: venue.id, name: 'Main' },
      });
      const code = await client.call('createCode', { body: { screenId: screen.id } });
      const body = { name: `Token ${n}`, role: 'viewer' } as const;
      const token = await client.call('createToken', { body });
      secrets.add(code.code).add(token.token);
      const status = await direct.call('getCodeStatus', { params: { code: code.code } });
      expect(status).toMatchObject({ status: 'pending', screenId: screen.id });
    }

    const queue = Array.from({ length: rounds }, (_, n) => n).values();
    const worker = async () => {
      for (const n of queue) await createAll(n);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));

    expect(lost()).toBe(5 * rounds);
    expect(await countOf(direct.all('listTenants'))).toBe(rounds + 1);
    expect(await countOf(direct.all('listVenues'))).toBe(rounds);
    expect(await countOf(direct.all('listScreens'))).toBe(rounds);
    expect(await countOf(direct.all('listTokens'))).toBe(rounds + 1);
    const made = direct.all('listAudit', { query: { action: 'code.create' } });
    expect(await countOf(made)).toBe(rounds);
    expect(secrets).toHaveLength(2 * rounds);
  });
});
