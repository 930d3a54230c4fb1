// Revokes TVs whose requests for changes are held.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import type { Answer, BoundTv, TestService } from '../../support/service.ts';

type Service = TestService<Clock>;

const atOnce = 16;

/** Number of TVs by the statuses of their held answer and of their next request for a playlist. */
export type RevokedHolds = Record<string, number>;

async function heldCount(service: Service): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(/^signage_held_devices (\d+)$/m.exec(text)?.[1]);
}

/** Registers TVs at `holding`, holds one request of each, and revokes all of them at `revoking`. */
export async function revokeHeld(
  { holding, revoking }: { holding: Service; revoking: Service },
  count: number,
): Promise<RevokedHolds> {
  const limit = pLimit(atOnce);
  const forEach = <T, R>(all: readonly T[], work: (one: T) => Promise<R>) =>
    Promise.all(all.map((one) => limit(() => work(one))));
  const { id: venueId } = await holding.venue();
  const tvs = await forEach(Array.from({ length: count }), async () => {
    const tv = await holding.tv((await holding.screen({ venueId })).id);
    await holding.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    return { tv, cursor: (await tv.send('GET', 'changes')).body.cursor };
  });
  // All holds begin together, so that none ends before its TV is revoked.
  const held = tvs.map(({ tv, cursor }) => ({
    tv,
    answer: tv.send('GET', `changes?after=${cursor}&waitSeconds=50`),
  }));
  while ((await heldCount(holding)) < count) await sleep(20);
  await forEach(held, ({ tv }) => revoking.manage('POST', `/v1/devices/${tv.deviceId}/revoke`));
  const outcomes: RevokedHolds = {};
  const statusesOf = async ({ tv, answer }: { tv: BoundTv; answer: Promise<Answer> }) =>
    `${(await answer).status}, then ${(await tv.send('GET', 'playlist')).status}`;
  for (const outcome of await forEach(held, statusesOf))
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return outcomes;
}
