// Attacks on held requests. The full suite is holds.full.ts.
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import { startService } from '../../support/service.ts';
import { attacks, runAttack } from './run-attack.ts';

const expectedStatuses = {
  'a revoked key': ['401'],
  'half of a request': [],
  'unread answers': [],
  'a cursor of 1 MB': ['431'],
};

it.each(attacks)(
  '200 for each playlist of an honest TV beside clients with %s',
  async (attack) => {
    const service = await startService<Clock>({ clock: systemClock });
    const [honest, attacker] = [await service.tv(), await service.tv()];
    await service.manage('PUT', `/v1/screens/${honest.screenId}/playlist`, { items: [item()] });
    const { cursor } = (await attacker.send('GET', 'changes')).body;
    if (attack === 'a revoked key')
      await service.manage('POST', `/v1/devices/${attacker.deviceId}/revoke`);
    const { url } = service;
    const aim = { url, screenId: attacker.screenId, key: attacker.apiKey, cursor };
    const outcome = await runAttack(
      attack,
      { aim, connections: 100, seconds: 2 },
      { url, screenId: honest.screenId, key: honest.apiKey },
    );
    expect(Object.keys(outcome.honest.statuses)).toEqual(['200']);
    expect(Object.keys(outcome.statuses)).toEqual(expectedStatuses[attack]);
  },
  30_000,
);
