// One time decides what is valid, expired or online: of the machine for files, of the database for
// PostgreSQL. It follows a corrected clock.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dayMs, hourMs, iso, minuteMs, systemClock } from '../../src/domain/clock.ts';
import { type LogSink, silentLog } from '../../src/domain/log.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { item } from '../support/service/content.ts';
import { made, startService, type TestService } from '../support/service/service.ts';

describe('after a clock that ran a day fast is corrected', () => {
  async function startFast(log?: LogSink) {
    const service = await startService({ store: await temporaryFolder(), ...(log && { log }) });
    const rightMs = service.clock.now();
    service.clock.set(rightMs + dayMs);
    return { service, correct: () => service.clock.set(rightMs + minuteMs * 2) };
  }

  it.each([
    ['at once', async () => {}],
    ['after a restart', (service: TestService) => service.restart()],
  ])('times of the next two hours are accepted, %s', async (_, next) => {
    const { service, correct } = await startFast();
    const tv = await service.tv();
    correct();
    await next(service);
    const inTwoHours = service.clock.now() + 2 * hourMs;
    const token = { name: 'Two hours', role: 'admin', expiresAt: iso(inTwoHours) };
    expect((await service.manage('POST', '/v1/tokens', token)).status).toBe(201);
    const playlist = { items: [item()], validUntil: inTwoHours / 1000 };
    const path = `/v1/screens/${tv.screenId}/playlist`;
    expect((await service.manage('PUT', path, playlist)).status).toBe(200);
    expect((await tv.send('GET', 'playlist')).status).toBe(200);
    service.clock.advance(2 * hourMs);
    expect((await tv.send('GET', 'playlist')).status).toBe(404);
  });

  it('codes and claims of that day are dead, for reads and changes', async () => {
    const { service, correct } = await startFast();
    const { code, screenId } = await service.code();
    const { claim } = made(
      await service.send('POST', '/devices/claims', { body: { deviceInfo: {} } }),
    );
    correct();
    const status = `/v1/devices/provisioning-codes/${code}/status`;
    expect((await service.manage('GET', status)).body.status).toBe('expired');
    expect((await service.register(code)).status).toBe(410);
    expect(
      made(await service.manage('GET', `/v1/screens/${screenId}`)).provisioningCode,
    ).toBeNull();
    expect((await service.manage('GET', `/v1/devices/claims/${claim}`)).status).toBe(404);
    const offer = `/v1/devices/claims/${claim}/offer`;
    expect((await service.manage('POST', offer, { screenId })).status).toBe(404);
  });

  it('a secret that was replaced on that day no longer works', async () => {
    const { service, correct } = await startFast();
    const { id, token } = made(
      await service.manage('POST', '/v1/tokens', { name: 'Rotated', role: 'admin' }),
    );
    await service.manage('POST', `/v1/tokens/${id}/rotate`);
    expect((await service.send('GET', '/v1/me', { key: token })).status).toBe(200);
    correct();
    expect((await service.send('GET', '/v1/me', { key: token })).status).toBe(401);
  });

  it('TVs that were seen on that day are offline until they speak again', async () => {
    const { service, correct } = await startFast();
    const tv = await service.tv();
    await tv.send('GET', 'config');
    correct();
    const isOnline = async () =>
      made(await service.manage('GET', `/v1/devices/${tv.deviceId}`)).online;
    expect(await isOnline()).toBe(false);
    await tv.send('GET', 'config');
    expect(await isOnline()).toBe(true);
  });

  it('Date is right, and the service and /readyz?verbose tell the difference', async () => {
    const warnings: unknown[] = [];
    const warn = (fields: unknown) => warnings.push(fields);
    const { service, correct } = await startFast({ ...silentLog, warn });
    await service.screen();
    correct();
    const { text, headers } = await service.send('GET', '/readyz?verbose');
    expect(headers.get('date')).toBe(new Date(service.clock.now()).toUTCString());
    const [, clock] = text.split('\n').map((line) => line && JSON.parse(line));
    expect(clock).toEqual({ component: 'clock', status: 'failing', storeAheadSeconds: 86_280 });
    await service.restart();
    expect(warnings).toContainEqual({ storeAheadSeconds: 86_280 });
  });
});

describe('an instance on PostgreSQL whose machine is 20 minutes slow', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('decides by the clock of the database', async () => {
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() - 20 * minuteMs);
    const service = await startService({ store: await freshDatabase(), clock: systemClock });
    const { headers } = await service.send('GET', '/healthz');
    expect(Math.abs(Date.parse(headers.get('date')!) - now())).toBeLessThan(minuteMs);
    const expiresAt = iso(now() + 1500);
    const { token } = made(
      await service.manage('POST', '/v1/tokens', { name: 'Short', role: 'admin', expiresAt }),
    );
    const me = async () => (await service.send('GET', '/v1/me', { key: token })).status;
    await expect.poll(me).toBe(401);
    const { text } = await service.send('GET', '/readyz?verbose');
    expect(text).toMatch(/"clock","status":"failing","storeAheadSeconds":(?:1199|1200)\b/);
  });
});
