// signage code status --wait, claim and offer.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { json, stubService } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, cliOf, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

describe('signage code status', () => {
  it('--wait returns when a TV has used the code', async () => {
    const { code } = await service.code();
    const waiting = cli(['code', 'status', code, '--wait', '-o', 'json']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { body } = await service.register(code);
    expect(await waiting).toMatchObject({
      code: 0,
      json: { status: 'used', deviceId: body.deviceId },
      stderr: '',
    });
  });

  it('--wait 5 for a cancelled code, with the result and a hint', async () => {
    const { code, screenId } = await service.code();
    const waiting = cli(['code', 'status', code, '--wait', '-o', 'json']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await service.manage('DELETE', `/v1/devices/provisioning-codes/${code}`);
    const run = await waiting;
    expect(run).toMatchObject({ code: 5, json: { status: 'cancelled' } });
    expect(JSON.parse(run.stderr)).toMatchObject({
      code: 'pairing_code_cancelled',
      hint: expect.stringContaining(`signage code create ${screenId}`),
    });
  });

  it('--wait 5 for a code that expires meanwhile', async () => {
    const clock = new ManualClock();
    const other = await startService({ clock });
    const { code } = await other.code();
    const waiting = cliOf(
      other,
      adminToken,
    )(['code', 'status', code, '--wait', '-o', 'json', '--quiet']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await clock.advance(15 * 60_000);
    expect(await waiting).toMatchObject({
      code: 5,
      json: { status: 'expired', expiresInSeconds: 0 },
    });
  });

  it('--wait 8 after the timeout, with empty stdout', async () => {
    const { code } = await service.code();
    const run = await cli(['code', 'status', code, '--wait', '--timeout', '1s']);
    expect(run).toMatchObject({ code: 8, stdout: '' });
    expect(run.stderr).not.toContain(code);
  });

  it('--wait shows progress on a terminal without the code, then clears it', async () => {
    const { code } = await service.code();
    const during = (io: FakeIo) => io.until(/Waiting for a TV/).then(() => service.register(code));
    const run = await cli(['code', 'status', code, '--wait', '-o', 'json'], { tty: true, during });
    expect(run).toMatchObject({ code: 0, json: { status: 'used' } });
    expect(run.stderr).toBe('\r\u001b[KWaiting for a TV to use the code …\r\u001b[K');
  });

  it('--wait 130 at Ctrl-C', async () => {
    const { code } = await service.code();
    const during = async (io: { signal(name: 'SIGINT'): boolean }) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      io.signal('SIGINT');
    };
    expect(await cli(['code', 'status', code, '--wait'], { during })).toMatchObject({
      code: 130,
      stdout: '',
    });
  });

  it('--wait does not busy-poll a service without long polls', async () => {
    const pending = {
      code: 'ABCD2345',
      screenId: 's',
      status: 'pending',
      createdAt: 't',
      expiresAt: 't',
      expiresInSeconds: 9,
      simulated: false,
    };
    const stub = await stubService(json(200, { ...pending, usedAt: null, deviceId: null }));
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    expect(
      (await runCli(['code', 'status', 'ABCD2345', '--wait', '--timeout', '2s'], { env })).code,
    ).toBe(8);
    expect(stub.heard.length).toBeLessThan(7);
  });
});

describe('signage code claim and code offer', () => {
  const makeClaim = async () =>
    (await service.send('POST', '/devices/claims', { body: { deviceInfo: { model: 'QM55C' } } }))
      .body;

  it('show the TV, and send it a code for a screen', async () => {
    const { claim, token } = await makeClaim();
    const shown = await cli(['code', 'claim', claim.toLowerCase(), '-o', 'json']);
    expect(shown).toMatchObject({ code: 0, json: { claim, deviceInfo: { model: 'QM55C' } } });
    const table = await cli(['code', 'claim', claim.slice(0, 3), claim.slice(3)]);
    expect(table.stdout).toContain('QM55C');
    const screen = await service.screen({ name: 'Offered' });
    const offered = await cli(['code', 'offer', screen.id, claim, '-o', 'json']);
    expect(offered).toMatchObject({ code: 0, json: { screenId: screen.id, status: 'pending' } });
    const { body } = await service.send('GET', `/devices/claims/${claim}`, { key: token });
    expect(body.pairingCode).toBe(offered.json.code);
    const again = await cli(['code', 'offer', screen.id, claim]);
    expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining('new claim') });
  });
});
