// signage device list, get, revoke.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import type { TestService } from '../support/service.ts';
import { type Cli, startCli } from './run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

async function place(venue: string, screen: string, labels: object = {}) {
  const found = (await service.manage('GET', `/v1/venues?name=${encodeURIComponent(venue)}`)).body
    .items[0];
  const { id: venueId } = found ?? (await service.venue({ name: venue }));
  return service.screen({ venueId, name: screen, labels });
}

const device = async (id: string) => (await service.manage('GET', `/v1/devices/${id}`)).body;

describe('signage device list', () => {
  it('lists all devices, with screen names in the table', async () => {
    const tv = await service.tv((await place('Lobby', 'Main')).id);
    const { code, json } = await cli(['device', 'list', '-o', 'json']);
    expect(code).toBe(0);
    expect(json.map(({ id }: { id: string }) => id)).toContain(tv.deviceId);
    expect((await cli(['device', 'list'])).stdout).toMatch(
      /^SCREEN +MODEL +APP VERSION +STATE +ONLINE +LAST SEEN AT\nLobby\/Main/,
    );
    expect((await cli(['device', 'list', '--screen', 'Lobby/Main', '-o', 'name'])).stdout).toBe(
      `${tv.deviceId}\n`,
    );
  });

  it('filters by venue, screen, state and online status', async () => {
    const screen = await place('Depot', 'Gate');
    const first = await service.tv(screen.id);
    await service.manage('POST', `/v1/devices/${first.deviceId}/revoke`);
    const second = await service.tv(screen.id);
    const third = await service.tv((await place('Depot', 'Yard')).id);
    const ids = async (...args: string[]) => {
      const { stdout } = await cli(['device', 'list', '-o', 'name', ...args]);
      return new Set(stdout.split('\n').slice(0, -1));
    };
    expect(await ids('--venue', 'Depot')).toEqual(
      new Set([first.deviceId, second.deviceId, third.deviceId]),
    );
    expect(await ids('--screen', 'Depot/Gate')).toEqual(new Set([first.deviceId, second.deviceId]));
    expect(await ids('--screen', 'Gate', '--state', 'bound')).toEqual(new Set([second.deviceId]));
    expect(await ids('--venue', 'Depot', '--online')).toEqual(
      new Set([second.deviceId, third.deviceId]),
    );
    expect(await ids('--venue', 'Depot', '--offline')).toEqual(new Set([first.deviceId]));
    expect(
      (await cli(['device', 'list', '--venue', 'Depot', '--limit', '1', '-o', 'json'])).json,
    ).toHaveLength(1);
  });

  it('2 for --online with --offline, 3 for an unknown screen, 2 for an unknown state', async () => {
    expect((await cli(['device', 'list', '--online', '--offline'])).code).toBe(2);
    expect((await cli(['device', 'list', '--screen', 'Nothing'])).code).toBe(3);
    expect((await cli(['device', 'list', '--state', 'asleep'])).code).toBe(2);
  });
});

describe('signage device get', () => {
  it('finds a device by id and by screen, and shows its device info', async () => {
    const screen = await place('Kiosk', 'One');
    const { code } = await service.code(screen.id);
    const { body: tv } = await service.register(code, {
      deviceInfo: { model: 'QM55', appVersion: '4.2.0', locationHint: 'by the door' },
    });
    const expected = await device(tv.deviceId);
    for (const name of [tv.deviceId, 'Kiosk/One', screen.id])
      expect((await cli(['device', 'get', name, '-o', 'json'])).json).toEqual(expected);
    const { stdout } = await cli(['device', 'get', 'Kiosk/One']);
    expect(stdout).toMatch(
      /^Screen +Kiosk\/One\nModel +QM55\nApp version +4\.2\.0\nState +bound\nOnline +yes\n/,
    );
    expect(stdout).toMatch(/Location hint +by the door\n/);
  });

  it('3 for a screen without a device, with a hint, and for an unknown id', async () => {
    await place('Kiosk', 'Two');
    const run = await cli(['device', 'get', 'Kiosk/Two']);
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('signage pair Kiosk/Two');
    expect((await cli(['device', 'get', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'])).code).toBe(3);
  });
});

describe('signage device revoke', () => {
  it('--yes revokes the device of a screen with a reason, and prints device and screen', async () => {
    const tv = await service.tv((await place('Bar', 'Left')).id);
    const run = await cli([
      'device',
      'revoke',
      'Bar/Left',
      '--reason',
      'stolen',
      '--yes',
      '-o',
      'json',
    ]);
    expect(run.code).toBe(0);
    expect(run.json).toMatchObject({
      device: { id: tv.deviceId, state: 'suspended', suspendReason: 'stolen' },
      screen: { state: 'provisioning' },
    });
    expect(run.stderr).toContain('signage pair Bar/Left');
    expect((await tv.send('GET', 'config')).body.code).toBe('device_key_revoked');
  });

  it('prints the name of the freed screen', async () => {
    await service.tv((await place('Bar', 'Middle')).id);
    const { stdout } = await cli(['device', 'revoke', 'Bar/Middle', '--yes']);
    expect(stdout).toMatch(/^Screen +Bar\/Middle\nScreen state +provisioning\n/);
  });

  it('asks on a terminal, and stops on "no"; otherwise 2, naming --yes', async () => {
    const tv = await service.tv((await place('Bar', 'Right')).id);
    expect(
      (
        await cli(['device', 'revoke', 'Bar/Right'], {
          tty: true,
          keys: [[/Revoke the device on "Bar\/Right"\?/, 'n\r']],
        })
      ).code,
    ).toBe(5);
    const off = await cli(['device', 'revoke', 'Bar/Right']);
    expect(off.code).toBe(2);
    expect(off.stderr).toContain('--yes');
    expect(await device(tv.deviceId)).toMatchObject({ state: 'bound' });
  });

  it('0 for a device that is already revoked', async () => {
    const tv = await service.tv();
    expect((await cli(['device', 'revoke', tv.deviceId, '--reason', 'first', '--yes'])).code).toBe(
      0,
    );
    const again = await cli(['device', 'revoke', tv.deviceId, '--reason', 'second', '-o', 'json']);
    expect(again).toMatchObject({ code: 0, json: { device: { suspendReason: 'first' } } });
    expect(again.stderr).toContain('Nothing changed');
  });

  it('6 for a reason that is too long; an installer may revoke', async () => {
    const tv = await service.tv();
    expect(
      (await cli(['device', 'revoke', tv.deviceId, '--yes', '--reason', 'x'.repeat(501)])).code,
    ).toBe(6);
    expect(await device(tv.deviceId)).toMatchObject({ state: 'bound' });
    expect((await (await as('installer'))(['device', 'revoke', tv.deviceId, '--yes'])).code).toBe(
      0,
    );
  });

  it('--selector revokes the devices of all screens with the label, and no others', async () => {
    const [one, two, empty] = [
      await place('Gym', '1', { f: '2' }),
      await place('Gym', '2', { f: '2' }),
      await place('Gym', '3', { f: '2' }),
    ];
    const first = await service.tv(one.id);
    const second = await service.tv(two.id);
    const other = await service.tv((await place('Gym', '4', { f: '3' })).id);
    const args = ['device', 'revoke', '--selector', 'f=2', '--venue', 'Gym', '--reason', 'refit'];
    expect((await cli(args)).code).toBe(2);
    expect((await cli([...args, '--dry-run', '-o', 'json'])).json).toHaveLength(2);
    const run = await cli([...args, '--yes', '-o', 'json']);
    expect(run.code).toBe(0);
    expect(run.json).toEqual([
      { name: 'Gym/1', id: one.id, result: 'revoked', error: null },
      { name: 'Gym/2', id: two.id, result: 'revoked', error: null },
      { name: 'Gym/3', id: empty.id, result: 'unchanged', error: null },
    ]);
    for (const { deviceId } of [first, second])
      expect(await device(deviceId)).toMatchObject({ state: 'suspended', suspendReason: 'refit' });
    expect(await device(other.deviceId)).toMatchObject({ state: 'bound' });
  });

  it('prints one result per named device; an unknown name stops it before any change', async () => {
    const tvs = [
      await service.tv((await place('Pool', 'A')).id),
      await service.tv((await place('Pool', 'B')).id),
    ];
    expect((await cli(['device', 'revoke', 'Pool/A', 'Pool/Z', '--yes'])).code).toBe(3);
    expect(await device(tvs[0]!.deviceId)).toMatchObject({ state: 'bound' });
    const run = await cli(['device', 'revoke', 'Pool/A', tvs[1]!.deviceId, '--yes', '-o', 'json']);
    expect(run.json).toMatchObject([
      { name: 'Pool/A', result: 'revoked' },
      { name: tvs[1]!.deviceId, result: 'revoked' },
    ]);
  });

  it('2 without a device, and for both a name and --selector', async () => {
    expect((await cli(['device', 'revoke', '--yes'])).code).toBe(2);
    expect((await cli(['device', 'revoke', 'Pool/A', '--selector', 'a=b', '--yes'])).code).toBe(2);
  });
});
