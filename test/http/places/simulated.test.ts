import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectInvalid,
  impression,
  type Manager,
  manager,
} from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const codes = '/v1/devices/provisioning-codes';
let service: TestService;
let admin: Manager;
let venueId: string;
let count = 0;

beforeAll(async () => {
  service = await startService();
  admin = manager(service);
  venueId = (await admin.venue('Hall')).id;
});

/** Creates a code with these members, and registers a TV with it. */
async function tvWith(more: object, deviceInfo: object = {}) {
  const screen = await admin.screen(venueId, `Screen ${++count}`);
  const code = await admin.post(codes, { screenId: screen.id, ...more });
  expect(code.status, code.text).toBe(201);
  const registered = await service.register(code.body.code, { deviceInfo });
  expect(registered.status, registered.text).toBe(201);
  const status = await admin.get(`${codes}/${code.body.code}/status`);
  const device = await admin.get(`/v1/devices/${registered.body.deviceId}`);
  return {
    screenId: screen.id,
    key: registered.body.apiKey,
    deviceId: device.body.id,
    marks: [code.body.simulated, status.body.simulated, device.body.simulated],
  };
}

async function play(tv: { screenId: string; key: string }, duration: number) {
  const body = [impression({ duration })];
  const path = `/devices/${tv.screenId}/events`;
  expect((await service.send('POST', path, { key: tv.key, body })).status).toBe(202);
}

describe('GET /v1/reports/impressions?simulated=', () => {
  const path = '/v1/reports/impressions?groupBy=day&by=received';

  it('counts everything by default, and devices marked by their code not at all or alone', async () => {
    const real = await tvWith({});
    const simulated = await tvWith({ simulated: true });
    expect(real.marks).toEqual([false, false, false]);
    expect(simulated.marks).toEqual([true, true, true]);
    await play(real, 1.5);
    await play(simulated, 2.5);
    const totals = async (query: string) =>
      (await admin.get(path + query)).body.items.map(
        ({ impressions, seconds }: Record<string, number>) => [impressions, seconds],
      );
    const expectTotals = async () => {
      expect(await totals('')).toEqual([[2, 4]]);
      expect(await totals('&simulated=include')).toEqual([[2, 4]]);
      expect(await totals('&simulated=exclude')).toEqual([[1, 1.5]]);
      expect(await totals('&simulated=only')).toEqual([[1, 2.5]]);
      const csv = { headers: { Accept: 'text/csv' } };
      expect((await admin.send('GET', `${path}&simulated=exclude`, csv)).text).toMatch(/,1,1.5,/);
    };
    await expectTotals();
    await admin.post(`/v1/devices/${simulated.deviceId}/revoke`);
    await admin.delete(`/v1/screens/${simulated.screenId}`);
    await expectTotals();
  });

  it('400 for another word', async () => {
    expectInvalid(await admin.get(`${path}&simulated=true`), 'query.simulated');
  });
});
