import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../../src/domain/events/event.ts';
import { json, problem, stubService } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { impression, item } from '../../support/service/content.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { type Cli, type CliRun, runCli, startCli } from '../run-cli.ts';
import { codeOf, deviceInfo, playOn, registerTv } from './paired-tv.ts';

let cli: Cli;
let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, as, service } = await startCli());
});

/** Pairs with NDJSON as output. `meanwhile` runs with the code as soon as it is printed. */
const pair = (
  argv: readonly string[],
  meanwhile?: (code: string, io: FakeIo) => Promise<unknown>,
  by: Cli = cli,
) =>
  by(['pair', ...argv, '-o', 'ndjson'], {
    ...(meanwhile && { during: async (io) => meanwhile(await codeOf(io), io) }),
  });

const register = (code: string) => registerTv(service.url, code);
const play = (code: string) => playOn(service.url, code);
const stepsOf = ({ ndjson }: CliRun) => ndjson.map(({ step }) => step);
const get = async (path: string) => (await service.manage('GET', path)).body;
const codeStatus = async (code: string) =>
  (await get(`/v1/devices/provisioning-codes/${code}/status`)).status;

/** A screen with a playlist, and its venue. */
async function readyScreen(name = 'Main') {
  const venue = await service.venue();
  const screen = await service.screen({ venueId: venue.id, name });
  await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
  return { venue, screen, place: `${venue.name}/${name}` };
}

describe('signage pair VENUE/SCREEN', () => {
  it('follows the TV from its code to its first event, a step at a time', async () => {
    const { place, screen, venue } = await readyScreen();
    const early: string[] = [];
    const run = await pair([place], async (code, io) => {
      const tv = await register(code);
      await io.until(/"step":"registered"/);
      early.push(io.out());
      await tv.fetchPlaylist();
      await io.until(/"step":"playlist"/);
      early.push(io.out());
      await tv.sendEvent();
    });
    const { ndjson } = run;
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(stepsOf(run)).toEqual(['code', 'registered', 'playlist', 'event', 'paired']);
    expect(ndjson[0]).toMatchObject({
      code: expect.stringMatching(/^[A-Z2-9]{8}$/),
      screenId: screen.id,
      venueId: venue.id,
      screen: 'Main',
      venue: venue.name,
      link: `signage://pair?url=${encodeURIComponent(service.url)}&code=${ndjson[0].code}`,
      deviceId: null,
      model: null,
      error: null,
    });
    expect(ndjson[4]).toMatchObject({ ...deviceInfo, playlistVersion: 1 });
    const device = await get(`/v1/devices/${ndjson[4].deviceId}`);
    expect(ndjson.slice(1).map(({ at }) => at)).toEqual([
      device.createdAt,
      device.lastPlaylistAt,
      device.lastEventAt,
      device.lastEventAt,
    ]);
    // No update was printed too early.
    expect(early[0]).not.toContain('"playlist"');
    expect(early[1]).not.toContain('"event"');
  });

  it('prints updates as a table; prints the code on stderr if the results come too late', async () => {
    const first = await readyScreen();
    const table = await cli(['pair', first.place], {
      during: async (io) => play((await io.until(/code +.*\/Main +([A-Z2-9]{8})/)).slice(-8)),
    });
    expect(table.stdout).toMatch(/^STEP +SCREEN +CODE +DEVICE +MODEL +VERSION +ERROR\ncode +/);
    expect(table.stdout).toMatch(/paired +.*Samsung QM55B +2\.3\.1, Tizen 6\.5/);
    expect(table.stderr).toBe('');
    const second = await readyScreen();
    const spoken = await cli(['pair', second.place, '-o', 'json'], {
      during: async (io) =>
        play((await io.until(/Code for .*: [A-Z2-9]{4}-[A-Z2-9]{4}/)).slice(-9).replace('-', '')),
    });
    expect(spoken.json.at(-1).step).toBe('paired');
    const quiet = await cli(['pair', second.place, '-o', 'json', '--quiet']);
    expect(quiet).toMatchObject({ code: 2, stderr: expect.stringContaining('ndjson') });
  });

  it('--wait-for ends at the step that it names; playing is the first impression', async () => {
    const { place } = await readyScreen();
    const run = await pair([place, '--wait-for', 'registered'], register);
    expect([run.code, stepsOf(run)]).toEqual([0, ['code', 'registered']]);
    const { place: other, screen } = await readyScreen();
    const playing = await pair([other, '--wait-for', 'playing'], async (code, io) => {
      const { tv, screenId } = await play(code);
      await io.until(/"step":"event"/);
      await tv.postEvents(screenId, [impression() as TelemetryEvent]);
    });
    const { items } = await get(`/v1/events?screenId=${screen.id}&type=impression`);
    expect(playing.code).toBe(0);
    expect(playing.ndjson.slice(-2).map(({ step, at }) => [step, at])).toEqual([
      ['playing', items[0].receivedAt],
      ['paired', items[0].receivedAt],
    ]);
  });

  it('does not count a 404 as a fetched playlist, and says so', async () => {
    const screen = await service.screen({ name: 'Bare' });
    const run = await pair([screen.id, '--wait-for', 'playlist'], async (code, io) => {
      const tv = await register(code);
      await tv.missPlaylist();
      await io.until(/no playlist yet/);
      await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
      await io.until(/now has a playlist, version 1\. Waiting for the TV/);
      await tv.fetchPlaylist();
    });
    expect([run.code, stepsOf(run).at(-1)]).toEqual([0, 'playlist']);
    expect(run.stderr).toContain('signage show');
  });

  it('cancels a code that nobody has seen when its output fails', async () => {
    const { screen, place } = await readyScreen();
    expect((await pair([place, '--fields', 'nothing'])).code).toBe(2);
    expect((await get(`/v1/screens/${screen.id}`)).provisioningCode.status).toBe('cancelled');
  });
});

describe('signage pair, choosing the screen', () => {
  it('--create creates venue and screen only once', async () => {
    const flags = ['--create', '--wait-for', 'registered'];
    const made = await pair(['Harbour/Left', ...flags], register);
    expect(made).toMatchObject({
      code: 0,
      stderr: 'The venue "Harbour" was created.\nThe screen "Harbour/Left" was created.\n',
    });
    expect(await pair(['harbour/left', '--create'])).toMatchObject({ code: 5, stdout: '' });
    const other = await pair(['Harbour/Right', ...flags], register);
    expect(other.stderr).toBe('The screen "Harbour/Right" was created.\n');
  });

  it('an installer may pair', async () => {
    const { place } = await readyScreen();
    expect((await pair([place, '--create'], play, await as('installer'))).code).toBe(0);
  });
});

describe('signage pair, a screen that has a TV', () => {
  it.each([
    [[], 'Replaced by another TV (signage pair)'],
    [['--reason', 'Panel is broken'], 'Panel is broken'],
  ])('--replace %j revokes it, with the reason', async (more, suspendReason) => {
    const tv = await service.tv();
    const argv = [tv.screenId, '--replace', ...more, '--wait-for', 'registered'];
    const run = await pair(argv, register);
    expect([run.code, stepsOf(run)]).toEqual([0, ['code', 'registered']]);
    expect(run.ndjson[1].deviceId).not.toBe(tv.deviceId);
    const old = await get(`/v1/devices/${tv.deviceId}`);
    expect(old).toMatchObject({ state: 'suspended', suspendReason });
  });
});

describe('signage pair, ended early', () => {
  it('8 after the timeout, and cancels the code', async () => {
    const { place } = await readyScreen();
    const run = await pair([place, '--timeout', '1s']);
    expect([run.code, stepsOf(run)]).toEqual([8, ['code']]);
    expect(JSON.parse(run.stderr)).toMatchObject({
      code: 'wait_timed_out',
      hint: expect.stringContaining('was cancelled'),
    });
    expect(await codeStatus(run.ndjson[0].code)).toBe('cancelled');
  });

  it('8 when the TV registers but does not continue, with its state', async () => {
    const { place } = await readyScreen();
    const { code, ndjson, stderr } = await pair([place, '--timeout', '1s'], register);
    expect(code).toBe(8);
    expect(stderr).toContain('has not fetched its playlist yet');
    expect(await codeStatus(ndjson[0].code)).toBe('used');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const)('%s exits %i, leaves no code, and reports what remains', async (name, exitCode) => {
    const place = `Inn ${name}/Main`;
    const argv = [place, '--create'];
    const { code, ndjson, stderr } = await pair(argv, async (_, io) => io.signal(name));
    expect(code).toBe(exitCode);
    expect(await codeStatus(ndjson[0].code)).toBe('cancelled');
    expect(stderr).toContain(`the venue "Inn ${name}" was created`);
    expect(stderr).toContain('was cancelled');
    expect(stderr).toContain(`signage pair '${place}'`);
  });

  it('5 when somebody else cancels the code', async () => {
    const { place } = await readyScreen();
    const run = await pair([place], (code) =>
      service.manage('DELETE', `/v1/devices/provisioning-codes/${code}`),
    );
    expect(run).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Somebody else cancelled the code'),
    });
  });

  it('5 when a TV registers with an earlier code of the screen, with its device', async () => {
    const { place, screen } = await readyScreen();
    const other = await service.code(screen.id);
    const run = await pair([place], () => play(other.code));
    const { deviceId } = await get(`/v1/screens/${screen.id}`);
    expect([run.code, stepsOf(run)]).toEqual([5, ['code']]);
    const [warning = '', failure = ''] = run.stderr.split('\n');
    expect(warning).toMatch(/Another pairing code is pending: for "Main", \d s ago\./);
    expect(JSON.parse(failure)).toMatchObject({
      code: 'pairing_code_used',
      exitCode: 5,
      detail: expect.stringMatching(
        new RegExp(`was paired with an earlier code, by Samsung QM55B \\(${deviceId}\\)`),
      ),
      hint: expect.stringContaining(`signage pair '${place}' --replace`),
    });
    expect(run.stderr).not.toContain('has no TV yet');
  });

  it('5 when a TV registers with a later code of the screen, with its time', async () => {
    const { place, screen } = await readyScreen();
    const run = await pair([place], async () => play((await service.code(screen.id)).code));
    const { createdAt } = (await get(`/v1/screens/${screen.id}`)).provisioningCode;
    expect(run).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`with the code created at ${createdAt}, by Samsung`),
    });
  });

  it('5 when the device is revoked meanwhile', async () => {
    const { place } = await readyScreen();
    const run = await pair([place], async (code) => {
      const { deviceId } = await register(code);
      await service.manage('POST', `/v1/devices/${deviceId}/revoke`);
    });
    expect(run).toMatchObject({ code: 5, stderr: expect.stringContaining('was revoked while') });
  });

  it('3 when the screen is deleted meanwhile', async () => {
    const { place, screen } = await readyScreen();
    const run = await pair([place], () => service.manage('DELETE', `/v1/screens/${screen.id}`));
    expect(run.code).toBe(3);
  });
});

it('signage pair escapes hostile text in updates and results', async () => {
  const tenantId = '0198c0de-0000-7000-8000-000000000003';
  const times = { createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' };
  const evil = 'Evil\u001b[2J\u202e\n';
  const id = '0198c0de-0000-7000-8000-000000000002';
  const record = { ...times, id, tenantId, name: evil, hours: null, labels: {} };
  const screen = { state: 'provisioning', deviceId: null, provisioningCode: null };
  const code = {
    screenId: id,
    status: 'pending',
    expiresAt: times.createdAt,
    simulated: false,
  };
  const scope = { expiresAt: null, venueIds: null };
  const stub = await stubService(
    json(200, {
      ...scope,
      tokenId: id,
      name: 'x',
      role: 'admin',
      tenantId: null,
      tenantName: null,
    }),
    json(200, { ...record, ...screen, venueId: tenantId }),
    json(200, { ...record, id: tenantId, address: null, timezone: null }),
    json(201, { ...times, ...code, code: 'EVIL\u001b[2J', expiresInSeconds: 900 }),
    problem(404, 'pairing_code_not_found', evil),
  );
  const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken };
  const run = await runCli(['pair', id, '-o', 'json'], { env });
  expect(run).toMatchObject({ code: 3, stdout: '' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
  expect(run.stderr).not.toMatch(/[\u001b\u202e]/);
  expect(run.stderr).toContain('\\u001b[2J');
});
