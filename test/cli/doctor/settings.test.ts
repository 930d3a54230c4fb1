// The doctor on settings of the web player that it ignores.
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inStore } from '../../support/service/in-store.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { cliOf } from '../run-cli.ts';

it('names settings that the player does not know, and values that version 0.1.0 stored', async () => {
  const store = await temporaryFolder();
  const service = await startService({ store });
  const tv = await service.tv();
  const { screenId, tenantId } = tv;
  await service.manage('PUT', `/v1/venues/${tv.venueId}/config`, { player: { pin: 1 } });
  await service.close();
  const row = { id: `screen/${screenId}`, tenantId, level: 'screen', ownerId: screenId } as const;
  const player = { fit: 'coverr', rotate: '90', sound: true };
  await inStore(store, (open) =>
    open.write(async (tx) => tx.put('configs', { ...row, config: { player }, updatedAt: 0 })),
  );
  const again = await startService({ store });
  const run = await cliOf(again, adminToken)(['doctor', screenId, '-o', 'json']);
  const found = run.json.filter(({ check }: { check: string }) => check === 'config');
  expect(found.map(({ status, detail }: Record<string, string>) => `${status} ${detail}`)).toEqual([
    'warn player.fit must be one of contain, cover, fill. The player uses its default.',
    'warn player.rotate must be one of 0, 90, 180, 270. The player uses its default.',
    expect.stringContaining('warn The web player knows no setting "player.pin".'),
  ]);
});
