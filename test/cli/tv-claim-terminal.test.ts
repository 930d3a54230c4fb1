import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { startService } from '../support/service.ts';
import { sitDown } from '../support/sit-down.ts';

it('signage tv --claim shows a claim in large letters, asks before it accepts a screen, and plays', async () => {
  const service = await startService<Clock>({ clock: systemClock, trustProxy: ['127.0.0.1'] });
  const elsewhere = { headers: { 'x-forwarded-for': '198.51.100.4' } };
  const venue = await service.manage('POST', '/v1/venues', { name: 'Lobby' }, elsewhere);
  const main = { venueId: venue.body.id, name: 'Main' };
  const screen = await service.manage('POST', '/v1/screens', main, elsewhere);
  const tv = await sitDown(['tv', '--claim'], { env: { SIGNAGE_URL: service.url } });
  const offer = async (shown: RegExp) => {
    const [, claim] = await tv.until(shown);
    const path = `/v1/devices/claims/${claim}/offer`;
    await service.manage('POST', path, { screenId: screen.body.id }, elsewhere);
  };
  await offer(/█[\s\S]*signage pair VENUE\/SCREEN --tv (\w{6})$/m);
  await tv.until(/"default" offers this TV the screen "Lobby\/Main"\. Accept\? \(y\/N\)/);
  // Enter alone accepts nothing: there is a new claim.
  tv.type('\r');
  await offer(/Accept\? No[\s\S]*--tv (\w{6})$/m);
  await tv.until(/Accept\? No[\s\S]*Accept\? \(y\/N\)/);
  tv.type('y\r');
  await tv.until(/^nothing to show$/m);
  tv.io.signal('SIGINT');
  expect(await tv.ended).toBe(130);
  const { body } = await service.manage('GET', `/v1/screens/${screen.body.id}`);
  expect(body.state).toBe('active');
});
