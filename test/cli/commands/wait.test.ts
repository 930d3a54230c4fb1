import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, startCli } from '../run-cli.ts';

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

  it('waits until the TV of a screen plays, and it is paired meanwhile', async () => {
    const { name, screen } = await screenOf();
    const item = {
      creativeId: '11111111-1111-4111-8111-111111111111',
      creativeUrl: 'https://media.example.com/a.mp4',
      creativeType: 'video',
      duration: 15,
    };
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item] });
    const line = ['wait', 'screen', screen.id, '--for', 'playing', '-o', 'json'];
    const waiting = cli([...line, '--timeout', '20s']);
    await soon();
    const tv = await service.tv(screen.id);
    await tv.send('GET', 'playlist', { key: tv.apiKey });
    const silent = await cli(['wait', 'screen', name, '--for', 'playing', '--timeout', '0']);
    expect([silent.code, silent.stderr]).toEqual([8, expect.stringContaining('it is unconfirmed')]);
    const timestamp = Math.floor(service.clock.now() / 1000);
    const play = { type: 'play', timestamp, creativeId: item.creativeId };
    await tv.send('POST', 'events', { key: tv.apiKey, body: [play] });
    expect(await waiting).toMatchObject({ code: 0, json: { id: screen.id, condition: 'playing' } });
  });

  it('3 when the screen is deleted meanwhile', async () => {
    const { name, screen } = await screenOf();
    const waiting = cli(['wait', 'screen', name, '--timeout', '20s']);
    await soon();
    const playing = cli(['wait', 'screen', name, '--for', 'playing', '--timeout', '20s']);
    await soon();
    await service.manage('DELETE', `/v1/screens/${screen.id}`);
    expect([(await waiting).code, (await playing).code]).toEqual([3, 3]);
  });
});

describe('signage wait device', () => {
  it('waits for the device of a screen that has none yet', async () => {
    const { name, screen } = await screenOf();
    const waiting = cli(`wait device '${name}' --timeout 20s -o json`);
    await soon();
    const { deviceId } = await service.tv(screen.id);
    expect(await waiting).toMatchObject({ code: 0, json: { id: deviceId, online: true } });
    for (const named of [deviceId, screen.id])
      expect((await cli(['wait', 'device', named])).stdout).toMatch(/Online +yes/);
  });

  it('waits for several devices, by id and by screen', async () => {
    const { name, screen } = await screenOf();
    const other = await service.tv();
    const line = ['wait', 'device', other.deviceId, name, '--timeout', '20s', '-o', 'ndjson'];
    const waiting = cli(line);
    await soon();
    const late = await service.tv(screen.id);
    const run = await waiting;
    const ids = run.ndjson.map(({ id }) => id);
    expect([run.code, ids]).toEqual([0, [other.deviceId, late.deviceId]]);
    await service.manage('POST', `/v1/devices/${other.deviceId}/revoke`);
    expect((await cli(line)).stderr).toContain('was revoked');
  });
});
