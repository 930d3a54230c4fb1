// The doctor on screens with schedules and takeovers.
import { expect, it } from 'vitest';
import { item } from '../../support/service/content.ts';
import { startCli } from '../run-cli.ts';

it('names the layer that is due, and compares the TV with its version, not with the playlist', async () => {
  const { cli, service } = await startCli();
  const tv = await service.tv();
  const path = `/v1/screens/${tv.screenId}`;
  const now = Math.floor(service.clock.now() / 1000);
  const local = { creativeUrl: 'http://127.0.0.1:1/a.png', creativeType: 'image' };
  const lunch = item({ ...local, name: 'lunch.png' });
  const entries = [{ name: 'Lunch', at: now - 60, until: now + 3600, items: [lunch] }];
  await service.manage('PUT', `${path}/playlist`, { items: [item(local)] });
  await service.manage('PUT', `${path}/schedule`, { entries });
  const findings = async (check: string) =>
    (await cli(['doctor', tv.screenId, '-o', 'json'])).json.filter(
      (one: { check: string }) => one.check === check,
    );
  const { version } = (await tv.send('GET', 'playlist')).body;
  expect(version).toBe(2);
  expect(await findings('layer')).toMatchObject([
    { status: 'ok', detail: 'The TV has the entry "Lunch". It does not report what it shows.' },
  ]);
  const shown = { type: 'shown', timestamp: now, version, entryId: 'Lunch' };
  const { creativeId } = lunch;
  await tv.send('POST', 'events', { body: [{ ...shown, layer: 'entry', creativeId }] });
  expect(await findings('layer')).toMatchObject([
    { status: 'ok', detail: expect.stringContaining('It shows the entry "Lunch", since') },
  ]);
  expect(await findings('version')).toMatchObject([
    { status: 'ok', detail: expect.stringContaining('has version 2, the entry "Lunch".') },
  ]);
  expect(await findings('glass')).toMatchObject([
    { status: 'ok', detail: expect.stringContaining('It plays lunch.png (entry Lunch).') },
  ]);
  await tv.send('POST', 'events', { body: [{ ...shown, entryId: null, failedLayer: 'entry' }] });
  expect(await findings('layer')).toMatchObject([
    { status: 'warn', detail: expect.stringContaining('so that it shows what is beneath') },
  ]);
});
