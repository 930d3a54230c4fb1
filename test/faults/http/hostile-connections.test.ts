// Connections that try to exhaust the memory of the service, or to slow down TVs.
import { afterEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { endProcesses } from '../../support/process/signage-process.ts';
import { item } from '../../support/service/content.ts';
import { startService } from '../../support/service/service.ts';
import { askHonestly, holdAttacks, startAttack } from './honest-tv.ts';
import { floods, runFlood, startAttacked } from './hostile-connections.ts';

afterEach(endProcesses);

it.each([
  { flood: floods.oneConnection, mostMb: 60 },
  { flood: floods.manyConnections, mostMb: 150 },
])(
  '$flood.name, of which nobody reads a response, take less than $mostMb MB',
  async ({ flood, mostMb }) => {
    const { growthMb } = await runFlood(await startAttacked(), { ...flood, seconds: 1.5 });
    expect(growthMb).toBeLessThan(mostMb);
  },
);

const expectedStatuses = {
  'a revoked key': ['401'],
  'half of a request': [],
  'unread answers': [],
  'a cursor of 1 MB': ['431'],
};

it.each(holdAttacks)(
  '200 for each playlist of an honest TV beside clients with %s',
  async (attack) => {
    const service = await startService<Clock>({ clock: systemClock });
    const [tv, attacker] = [await service.tv(), await service.tv()];
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
    const { cursor } = (await attacker.send('GET', 'changes')).body;
    if (attack === 'a revoked key')
      await service.manage('POST', `/v1/devices/${attacker.deviceId}/revoke`);
    const { url } = service;
    const attackers = await startAttack({
      attack,
      url,
      screenId: attacker.screenId,
      key: attacker.apiKey,
      cursor,
      connections: 50,
      perSecond: 2000,
    });
    const { statuses } = await askHonestly(
      { url, screenId: tv.screenId, key: tv.apiKey },
      { kinds: ['playlist'], perSecond: 50, seconds: 1 },
    );
    expect(Object.keys(statuses)).toEqual(['200']);
    await expect
      .poll(async () => Object.keys((await attackers.met()).statuses))
      .toEqual(expectedStatuses[attack]);
    await attackers.stop();
  },
);
