// signage code create, status, cancel.
import { beforeAll, describe, expect, it } from 'vitest';
import { groupedCode, readClaim, readCode } from '../../../src/cli/options/pairing-code.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { FakeIo } from '../../support/fake-io.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import { json, stubService } from '../../support/stub-service.ts';
import { type Cli, cliOf, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const status = async (code: string) =>
  (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body.status;
const grouped = (code: string) => `${code.slice(0, 4)} ${code.slice(4)}`;

describe('spelling of pairing codes', () => {
  it.each([
    'ABCD2345',
    'abcd2345',
    'ABCD 2345',
    'abcd-2345',
    ' Ab cd–23 45\n',
    'ABCD‑2345',
    'A.B.C.D.2345',
  ])('%j is read as ABCD2345', (text) => {
    expect(readCode(text)).toBe('ABCD2345');
  });

  it.each(['', 'ABCD234', 'ABCD23456', 'ABCD/345', '../../me', 'ABCDÄ345', 'ABCDſ345'])(
    '%j is rejected, and not repeated in the message',
    (text) => {
      expect(() => readCode(text)).toThrow(/8 letters and digits/);
      expect(() => readCode(text)).not.toThrow(text || /""/);
    },
  );

  it.each(['K7Q2MX', 'k7q2-mx', 'K7Q 2MX', ' k7 q2 mx\n'])('%j is the claim K7Q2MX', (text) => {
    expect(readClaim(text)).toBe('K7Q2MX');
  });

  it.each(['', 'K7Q2M', '../../me', 'K7Q2MÄ'])('%j is not a claim', (text) => {
    expect(() => readClaim(text)).toThrow(/6 letters and digits/);
  });

  it('is shown in two groups', () => {
    expect(groupedCode('K7Q2MX')).toBe('K7Q 2MX');
    expect(groupedCode('ABCD2345')).toBe('ABCD 2345');
    expect(groupedCode('\u001b[2J')).toBe('\u001b[2J');
  });
});

describe('signage code create', () => {
  it('creates a code: plain in JSON, in two groups in the table', async () => {
    const venue = await service.venue({ name: 'Lobby' });
    await service.screen({ venueId: venue.id, name: 'Main' });
    const { code, json } = await cli(['code', 'create', 'Lobby/Main', '-o', 'json']);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      code: expect.stringMatching(/^[A-Z2-9]{8}$/),
      status: 'pending',
      expiresInSeconds: expect.any(Number),
    });
    expect(await status(json.code)).toBe('pending');
    expect((await cli(['code', 'create', 'Lobby/Main'])).stdout).toMatch(
      /^Code +[A-Z2-9]{4} [A-Z2-9]{4}\nScreen +Lobby\/Main\nStatus +pending\n/,
    );
    expect((await cli(['code', 'create', 'Lobby/Main', '-o', 'name'])).stdout).toMatch(
      /^[A-Z2-9]{8}\n$/,
    );
    expect((await cli(['code', 'create', 'Lobby/Main', '-o', 'csv'])).stdout).toMatch(
      /\r\n[A-Z2-9]{8},Lobby\/Main,pending,/,
    );
  });

  it('5 for a screen that has a device, with the next command', async () => {
    const tv = await service.tv();
    const bound = await cli(['code', 'create', tv.screenId]);
    expect(bound.code).toBe(5);
    expect(bound.stderr).toContain(`signage device revoke ${tv.screenId}`);
  });
});

describe('signage code status', () => {
  it('accepts any spelling, also as two words', async () => {
    const { code } = await service.code();
    const spellings = [
      [code],
      [code.toLowerCase()],
      [grouped(code)],
      grouped(code).toLowerCase().split(' '),
      [grouped(code).replace(' ', '-')],
    ];
    for (const words of spellings)
      expect(
        (await cli(['code', 'status', ...words, '-o', 'json'])).json.code,
        words.join('|'),
      ).toBe(code);
    expect(
      (await cli(['code', 'status', '-', '-o', 'json'], { stdin: `${grouped(code)}\n` })).json.code,
    ).toBe(code);
    expect((await cli(['code', 'status', code])).stdout).toContain(`${grouped(code)}\n`);
  });

  it('shows the device that used the code', async () => {
    const tv = await service.tv();
    expect((await cli(['code', 'status', tv.code, '-o', 'json'])).json).toMatchObject({
      status: 'used',
      deviceId: tv.deviceId,
      screenId: tv.screenId,
    });
  });

  it('3 for an unknown code, 2 for an invalid one; the message repeats neither', async () => {
    const unknown = await cli(['code', 'status', 'ZZZZ', '2222']);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).not.toMatch(/ZZZZ/i);
    const none = await cli(['code', 'status', 'ZZZZ-222']);
    expect(none.code).toBe(2);
    expect(none.stderr).not.toContain('ZZZZ');
    expect((await cli(['code', 'status', '-'], { tty: true })).code).toBe(2);
  });

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
    };
    const stub = await stubService(json(200, { ...pending, usedAt: null, deviceId: null }));
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    expect(
      (await runCli(['code', 'status', 'ABCD2345', '--wait', '--timeout', '2s'], { env })).code,
    ).toBe(8);
    expect(stub.heard.length).toBeLessThan(7);
    await stub.close();
  });
});

describe('signage code cancel', () => {
  it('cancels a pending code, with empty stdout and a note without the code', async () => {
    const { code } = await service.code();
    const run = await cli(['code', 'cancel', ...grouped(code).toLowerCase().split(' ')]);
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: 'Cancelled the code.\n' });
    expect(await status(code)).toBe('cancelled');
  });

  it('changes nothing under --dry-run', async () => {
    const { code } = await service.code();
    expect((await cli(['code', 'cancel', '-', '--dry-run'], { stdin: code })).code).toBe(0);
    expect(await status(code)).toBe('pending');
  });

  it('5 for a finished code', async () => {
    expect((await cli(['code', 'cancel', (await service.tv()).code])).code).toBe(5);
  });
});

describe('signage code get', () => {
  it('is signage code status', async () => {
    const { service, cli } = await startCli();
    const { venueId } = await service.tv();
    const { id } = await service.screen({ venueId });
    const { code } = await service.code(id);
    const run = await cli(['code', 'get', code, '-o', 'json']);
    expect(run).toMatchObject({ code: 0, json: { status: 'pending', screenId: id } });
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

  it('3 for an unknown claim, 2 for a pairing code', async () => {
    const unknown = await cli(['code', 'claim', '000000']);
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('shows now') });
    const code = await cli(['code', 'claim', 'ABCD2345']);
    expect(code).toMatchObject({ code: 2, stderr: expect.stringContaining('typed on the TV') });
  });
});
