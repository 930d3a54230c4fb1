import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let count = 0;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

async function screenOf() {
  const name = `Screen of ${++count}`;
  const screen = await service.screen({ name });
  return { name, screen };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

describe('signage wait screen', () => {
  it('returns at once if the screen is in the state', async () => {
    const { name, screen } = await screenOf();
    expect(
      (await cli(['wait', 'screen', name, '--for', 'provisioning', '-o', 'json'])).json,
    ).toEqual(screen);
    await service.tv(screen.id);
    const run = await cli(['wait', 'screen', name]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/State +active/);
  });

  it('waits until a TV has registered, and until it is revoked', async () => {
    const { name, screen } = await screenOf();
    const waiting = cli(`wait screen '${name}' --for active --timeout 20s -o json`);
    await soon();
    const tv = await service.tv(screen.id);
    expect(await waiting).toMatchObject({
      code: 0,
      json: { id: screen.id, state: 'active', deviceId: tv.deviceId },
    });
    const freed = cli(['wait', 'screen', screen.id, '--for', 'provisioning', '--timeout', '20s']);
    await soon();
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    expect((await freed).code).toBe(0);
  });

  it('8 after the timeout, with the last state and a hint', async () => {
    const { name, screen } = await screenOf();
    const run = await cli(['wait', 'screen', name, '--timeout', '0']);
    expect([run.code, run.stdout]).toEqual([8, '']);
    expect(run.stderr).toContain('it is provisioning, without a pairing code.');
    expect(run.stderr).toContain(`signage pair '${name}'`);
    await service.code(screen.id);
    const later = await cli(['wait', 'screen', name, '--timeout', '10ms', '-o', 'json']);
    expect(JSON.parse(later.stderr)).toMatchObject({
      code: 'wait_timed_out',
      exitCode: 8,
      detail: expect.stringContaining('code pending'),
    });
  });

  it('shows the current state at a terminal, then clears it', async () => {
    const { name } = await screenOf();
    const { stderr } = await cli(['wait', 'screen', name, '--timeout', '10ms'], { tty: true });
    expect(stderr).toContain('\r\u001b[KWaiting for the screen');
    expect(
      (await cli(['wait', 'screen', name, '--timeout', '10ms', '--quiet'], { tty: true })).stderr,
    ).not.toContain('Waiting for');
  });

  it('130 at Ctrl-C', async () => {
    const { name } = await screenOf();
    const during = async (io: { signal(name: 'SIGINT'): boolean }) => {
      await soon();
      io.signal('SIGINT');
    };
    expect(await cli(['wait', 'screen', name], { during })).toMatchObject({
      code: 130,
      stdout: '',
    });
  });

  it('3 for an unknown screen, and when it is deleted meanwhile; 2 for an invalid state or time', async () => {
    const { name, screen } = await screenOf();
    expect((await cli(['wait', 'screen', 'Nowhere'])).code).toBe(3);
    expect((await cli(['wait', 'screen', name, '--for', 'asleep'])).code).toBe(2);
    expect((await cli(['wait', 'screen', name, '--timeout', 'long'])).code).toBe(2);
    const waiting = cli(['wait', 'screen', name, '--timeout', '20s']);
    await soon();
    await service.manage('DELETE', `/v1/screens/${screen.id}`);
    expect((await waiting).code).toBe(3);
  });
});

describe('signage wait device', () => {
  it('waits for the device of a screen that has none yet', async () => {
    const { name, screen } = await screenOf();
    const waiting = cli(`wait device '${name}' --for online --timeout 20s -o json`);
    await soon();
    const { deviceId } = await service.tv(screen.id);
    expect(await waiting).toMatchObject({ code: 0, json: { id: deviceId, online: true } });
    for (const named of [deviceId, screen.id])
      expect((await cli(['wait', 'device', named])).stdout).toMatch(/Online +yes/);
  });

  it('8 after the timeout, with the last state', async () => {
    const { name, screen } = await screenOf();
    const run = await cli(['wait', 'device', name, '--timeout', '0']);
    expect([run.code, run.stdout]).toEqual([8, '']);
    expect(run.stderr).toContain('the screen has no device.');
    const { deviceId } = await service.tv(screen.id);
    await service.manage('POST', `/v1/devices/${deviceId}/revoke`);
    const revoked = await cli(['wait', 'device', deviceId, '--timeout', '20s']);
    expect([revoked.code, revoked.stderr]).toEqual([8, expect.stringContaining('was revoked')]);
  });

  it('8 for a device that is offline, with when it was last seen', async () => {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const other = await startService({ clock });
    const tv = await other.tv();
    aheadMs = 3_600_000;
    const run = await cliOf(
      other,
      await other.token('viewer'),
    )(['wait', 'device', tv.deviceId, '--timeout', '0']);
    expect(run.code).toBe(8);
    expect(run.stderr).toMatch(/it was last seen at \d{4}-/);
    expect(run.stderr).toContain(`signage doctor ${tv.deviceId}`);
  });

  it('waits for several devices, by id and by screen', async () => {
    const { name, screen } = await screenOf();
    const other = await service.tv();
    const line = ['wait', 'device', other.deviceId, name, '--timeout', '20s', '-o', 'ndjson'];
    const waiting = cli(line);
    await soon();
    await service.tv(screen.id);
    const run = await waiting;
    expect([run.code, run.ndjson.map(({ id }) => id)]).toEqual([0, [other.screenId, screen.id]]);
    await service.manage('POST', `/v1/devices/${other.deviceId}/revoke`);
    expect((await cli(line)).stderr).toContain('was revoked');
  });

  it('3 for an unknown device', async () => {
    expect((await cli(['wait', 'device', 'Nowhere'])).code).toBe(3);
    expect((await cli(['wait', 'device', randomUUID()])).code).toBe(3);
  });
});
