import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { adminToken, startService } from '../support/service.ts';
import { sitDown } from '../support/sit-down.ts';

it.each([
  ['in the live view', []],
  ['without the live view', ['--verbose']],
])('signage pair --qr shows the whole address of the web player %s', async (_, more) => {
  const service = await startService<Clock>({ clock: systemClock });
  const screen = await service.screen();
  const { io, ended, until } = await sitDown(['pair', screen.id, '--qr', ...more], {
    env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken },
  });
  await until(new RegExp(`^In a browser instead: ${service.url}/player#[A-Z2-9]{8}$`, 'm'));
  io.signal('SIGINT');
  expect(await ended).toBe(130);
});
