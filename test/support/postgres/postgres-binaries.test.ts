import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { batchOf, impression, tenantA } from '../../store/sample-batch.ts';
import { inDatabase } from './in-database.ts';
import { packagedBinaries } from './postgres-binaries.ts';
import { startPostgres } from './postgres-server.ts';

describe('the PostgreSQL binaries of the npm package', () => {
  it('start a server that the store can use', { timeout: 60_000 }, async () => {
    const server = await startPostgres({ binaries: packagedBinaries() });
    const url = server.url('postgres');
    const [{ version }] = await inDatabase(url, (sql) =>
      sql(`SELECT current_setting('server_version') AS version`),
    );
    expect(version).toMatch(/^17\./);
    const store = await openStore(url);
    expect(await store.appendBatch(batchOf([impression(1)], { key: 'one' }))).toBe('stored');
    expect(
      await store.impressions({ tenantId: tenantA, groupBy: 'day', by: 'timestamp' }),
    ).toHaveLength(1);
    await store.close();
    await server.end();
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
  });
});
