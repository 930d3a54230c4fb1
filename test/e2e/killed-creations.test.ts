// A service that is killed while it creates records (docs/protocol.md §5.11).
import { afterAll, expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { startService } from '../faults/kills/killed-service.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';

const adminToken = `mak_${'KilledCreations'.repeat(2)}`;
const kills = 4;
let stop: () => Promise<unknown> = async () => {};
afterAll(() => stop());

it('a creation that a kill interrupts is done once, and its repeat gets the secrets', {
  timeout: 120_000,
}, async () => {
  const folder = await temporaryFolder();
  let service = await startService(folder, adminToken);
  stop = () => service.kill();
  const clientOf = () =>
    new ManagementClient({ url: service.url, token: adminToken, retry: { attempts: 1 } });
  const { id: venueId } = await clientOf().call('createVenue', { body: { name: 'Lobby' } });
  const screen = await clientOf().call('createScreen', { body: { venueId, name: 'Main' } });
  const token = await clientOf().call('createToken', {
    body: { name: 'Kept', role: 'viewer' },
    idempotencyKey: 'first-token-0123456789',
  });
  let interrupted = 0;

  for (let round = 0; round < kills; round++) {
    const idempotencyKey = `round-${round}-0123456789abcdef`;
    const create = () =>
      clientOf().call('createCode', { body: { screenId: screen.id }, idempotencyKey });
    const first = create().catch(() => void interrupted++);
    // From before the request arrives to after the answer.
    await new Promise((resolve) => setTimeout(resolve, round * 4));
    await service.kill();
    const answered = await first;
    service = await startService(folder, adminToken);

    const made = await create();
    if (answered) expect(made.code).toBe(answered.code);
    expect((await create()).code).toBe(made.code);
    const query = { action: 'code.create', limit: 200 } as const;
    expect((await clientOf().call('listAudit', { query })).items).toHaveLength(round + 1);
  }

  expect(interrupted).toBeGreaterThan(0);
  const again = await clientOf().call('createToken', {
    body: { name: 'Kept', role: 'viewer' },
    idempotencyKey: 'first-token-0123456789',
  });
  expect(again.token).toBe(token.token);
});
