import { beforeAll, describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { TelemetryEvent } from '../../../src/domain/events/event.ts';
import { impression, item } from '../../support/content.ts';
import type { FakeIo } from '../../support/fake-io.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { adminToken, startService, type TestService } from '../../support/service.ts';
import { hangUp, json, problem, raw, stubService } from '../../support/stub-service.ts';
import { type Cli, cliOf, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let as: (role: string) => Promise<Cli>;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, as, service } = await startCli());
});

const deviceInfo = {
  manufacturer: 'Samsung',
  model: 'QM55B',
  appVersion: '2.3.1',
  osVersion: 'Tizen 6.5',
};

/** Waits until the code is printed, and returns it. */
async function codeOf(io: FakeIo): Promise<string> {
  return (await io.until(/"code":"([A-Z0-9]{8})"/)).slice(8, 16);
}

/** A TV that registers, fetches its playlist and sends an event with the RuntimeClient. */
async function runTv(code: string, { until = 'event', url = service.url } = {}) {
  const anyone = new RuntimeClient({ url });
  const { screenId, deviceId, apiKey } = await anyone.register({ pairingCode: code, deviceInfo });
  const tv = anyone.withKey(apiKey);
  if (until === 'registered') return { screenId, deviceId, tv };
  await tv.fetchPlaylist(screenId);
  if (until === 'event')
    await tv.postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]);
  return { screenId, deviceId, tv };
}

/** A screen with a playlist, and its venue. */
async function readyScreen(name = 'Main') {
  const venue = await service.venue();
  const screen = await service.screen({ venueId: venue.id, name });
  await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
  return { venue, screen, place: `${venue.name}/${name}` };
}

const codeStatus = async (code: string) =>
  (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body.status;

describe('signage pair VENUE/SCREEN', () => {
  it('follows the TV from its code to its first event, a step at a time', async () => {
    const { place, screen, venue } = await readyScreen();
    const steps: string[] = [];
    const { code, ndjson, stderr } = await cli(['pair', place, '-o', 'ndjson'], {
      async during(io) {
        const pairingCode = await codeOf(io);
        const { tv, screenId } = await runTv(pairingCode, { until: 'registered' });
        await io.until(/"step":"registered"/);
        steps.push(io.out());
        await tv.fetchPlaylist(screenId);
        await io.until(/"step":"playlist"/);
        steps.push(io.out());
        await tv.postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]);
      },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ndjson.map(({ step }) => step)).toEqual([
      'code',
      'registered',
      'playlist',
      'event',
      'paired',
    ]);
    expect(ndjson[0]).toMatchObject({
      code: expect.stringMatching(/^[A-Z2-9]{8}$/),
      screenId: screen.id,
      venueId: venue.id,
      screen: 'Main',
      venue: venue.name,
    });
    expect(ndjson[0].link).toBe(
      `signage://pair?url=${encodeURIComponent(service.url)}&code=${ndjson[0].code}`,
    );
    expect(ndjson[0]).toMatchObject({ deviceId: null, model: null, error: null });
    expect(ndjson[4]).toMatchObject({ ...deviceInfo, playlistVersion: 1 });
    const device = (await service.manage('GET', `/v1/devices/${ndjson[4].deviceId}`)).body;
    expect(ndjson.slice(1).map(({ at }) => at)).toEqual([
      device.createdAt,
      device.lastPlaylistAt,
      device.lastEventAt,
      device.lastEventAt,
    ]);
    // No update was printed too early.
    expect(steps[0]).not.toContain('"playlist"');
    expect(steps[1]).not.toContain('"event"');
  });

  it('prints updates as a table; prints the code on stderr if the results come too late', async () => {
    const first = await readyScreen();
    const table = await cli(['pair', first.place], {
      during: async (io) =>
        void (await runTv((await io.until(/code +.*\/Main +([A-Z2-9]{8})/)).slice(-8))),
    });
    expect(table.stdout).toMatch(/^STEP +SCREEN +CODE +DEVICE +MODEL +VERSION +ERROR\ncode +/);
    expect(table.stdout).toMatch(/paired +.*Samsung QM55B +2\.3\.1, Tizen 6\.5/);
    expect(table.stderr).toBe('');
    const second = await readyScreen();
    const spoken = await cli(['pair', second.place, '-o', 'json'], {
      during: async (io) =>
        void (await runTv(
          (await io.until(/Code for .*: [A-Z2-9]{4} [A-Z2-9]{4}/)).slice(-9).replace(' ', ''),
        )),
    });
    expect(spoken.json.map(({ step }: { step: string }) => step)).toEqual([
      'code',
      'registered',
      'playlist',
      'event',
      'paired',
    ]);
    const { code, stderr } = await cli(['pair', second.place, '-o', 'json', '--quiet']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('ndjson') });
  });

  it.each([
    ['registered', ['code', 'registered']],
    ['playlist', ['code', 'registered', 'playlist']],
  ])('--wait-for %s ends there', async (until, steps) => {
    const { place } = await readyScreen();
    const { code, ndjson } = await cli(['pair', place, '--wait-for', until, '-o', 'ndjson'], {
      during: async (io) => void (await runTv(await codeOf(io), { until })),
    });
    expect({ code, steps: ndjson.map(({ step }) => step) }).toEqual({ code: 0, steps });
  });

  it('does not count a 404 as a fetched playlist, and says so', async () => {
    const screen = await service.screen({ name: 'Bare' });
    const { code, ndjson, stderr } = await cli(
      ['pair', screen.id, '--wait-for', 'playlist', '-o', 'ndjson'],
      {
        async during(io) {
          const { tv, screenId } = await runTv(await codeOf(io), { until: 'registered' });
          await tv.fetchPlaylist(screenId).catch(() => {});
          await io.until(/no playlist yet/);
          await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
          await io.until(/now has a playlist, version 1\. Waiting for the TV/);
          await tv.fetchPlaylist(screenId);
        },
      },
    );
    expect({ code, last: ndjson.at(-1).step }).toEqual({ code: 0, last: 'playlist' });
    expect(stderr).toContain('signage playlist publish');
  });

  it('tells an installer who can publish the missing playlist', async () => {
    const screen = await service.screen({ name: 'Bare' });
    const installer = await as('installer');
    const { code, stderr } = await installer(['pair', screen.id, '-o', 'ndjson'], {
      async during(io) {
        const { tv, screenId } = await runTv(await codeOf(io), { until: 'registered' });
        await tv.fetchPlaylist(screenId).catch(() => {});
        await io.until(/Ask somebody/).then(() => io.signal('SIGINT'));
      },
    });
    expect({ code, stderr }).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /the role installer may not publish one\. Ask somebody with the role operator, admin or platform to run: signage playlist publish /,
      ),
    });
  });

  it('--wait-for playing ends at the first impression, not at other events', async () => {
    const { place, screen } = await readyScreen();
    const { code, ndjson } = await cli(['pair', place, '--wait-for', 'playing', '-o', 'ndjson'], {
      async during(io) {
        const { tv, screenId } = await runTv(await codeOf(io));
        await io.until(/"step":"event"/);
        await tv.postEvents(screenId, [impression() as TelemetryEvent]);
      },
    });
    const { items } = (
      await service.manage('GET', `/v1/events?screenId=${screen.id}&type=impression`)
    ).body;
    expect({ code, last: ndjson.slice(-2).map(({ step, at }) => ({ step, at })) }).toEqual({
      code: 0,
      last: ['playing', 'paired'].map((step) => ({ step, at: items[0].receivedAt })),
    });
  });

  it('--fields and --jq work on the updates', async () => {
    const { place } = await readyScreen();
    const { stdout } = await cli(['pair', place, '-o', 'ndjson', '--jq', '.step + " " + .code'], {
      during: async (io) => void (await runTv((await io.until(/code [A-Z2-9]{8}/)).slice(-8))),
    });
    expect(stdout.split('\n')[1]).toMatch(/^registered [A-Z2-9]{8}$/);
    const { screen, place: other } = await readyScreen();
    const bad = await cli(['pair', other, '-o', 'ndjson', '--fields', 'nothing']);
    expect(bad.code).toBe(2);
    // The code that nobody has seen was cancelled.
    expect(
      (await service.manage('GET', `/v1/screens/${screen.id}`)).body.provisioningCode.status,
    ).toBe('cancelled');
  });
});

describe('signage pair, choosing the screen', () => {
  it('--create creates venue and screen only once', async () => {
    const line = [
      'pair',
      '--venue',
      'Harbour',
      '--screen',
      'Left',
      '--create',
      '--wait-for',
      'registered',
      '-o',
      'ndjson',
    ];
    const made = await cli(line, {
      during: async (io) => void (await runTv(await codeOf(io), { until: 'registered' })),
    });
    expect(made).toMatchObject({
      code: 0,
      stderr: 'The venue "Harbour" was created.\nThe screen "Harbour/Left" was created.\n',
    });
    const again = await cli(['pair', 'harbour/left', '--create', '-o', 'ndjson']);
    expect(again).toMatchObject({ code: 5, stdout: '' });
    const other = await cli(
      ['pair', 'Harbour/Right', '--create', '--wait-for', 'registered', '-o', 'ndjson'],
      {
        during: async (io) => void (await runTv(await codeOf(io), { until: 'registered' })),
      },
    );
    expect(other.stderr).toBe('The screen "Harbour/Right" was created.\n');
  });

  it('an installer may pair but not create; the message names the needed role', async () => {
    const installer = await as('installer');
    const { place } = await readyScreen();
    for (const missing of ['Nowhere/Main', place.replace('Main', 'Other')]) {
      const { code, stdout, stderr } = await installer([
        'pair',
        missing,
        '--create',
        '-o',
        'ndjson',
      ]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain('operator, admin or platform');
    }
    const { code } = await installer(['pair', place, '--create', '-o', 'ndjson'], {
      during: async (io) => void (await runTv(await codeOf(io))),
    });
    expect(code).toBe(0);
  });

  it('a viewer is rejected before any other request', async () => {
    const { place, screen } = await readyScreen();
    const { code, stderr } = await (await as('viewer'))(['pair', place]);
    expect({ code, stderr }).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('installer, operator, admin or platform'),
    });
    expect(
      (await service.manage('GET', `/v1/screens/${screen.id}`)).body.provisioningCode,
    ).toBeNull();
  });

  it.each([
    [['pair', 'Nowhere/Main'], 3, '--create'],
    [['pair', 'No such screen at all'], 3, 'signage screen list'],
    [['pair'], 2, '--venue'],
    [['pair', '--venue', 'Harbour'], 2, '--screen'],
    [['pair', 'Harbour/Left', '--screen', 'Left'], 2, 'not both'],
    [['pair', '--all'], 2, '--venue'],
    [['pair', 'Harbour/Left', '--all'], 2, '--venue'],
    [['pair', 'Harbour/Left', '--wait-for', 'love'], 2, 'registered, playlist, event'],
    [['pair', 'Harbour/Left', '--timeout', 'soon'], 2, '--timeout'],
  ])('%j exits %i', async (line, code, told) => {
    const run = await cli(line);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: '' });
    expect(run.stderr).toContain(told);
  });

  it('a name that several screens have is ambiguous', async () => {
    await readyScreen('Twin');
    await readyScreen('Twin');
    expect(await cli(['pair', 'Twin'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('/Twin'),
    });
  });

  it('3 for a mistyped name, with the nearest names', async () => {
    const venue = await service.venue({ name: 'Concourse' });
    await service.screen({ venueId: venue.id, name: 'Departures' });
    const hints: [string, string][] = [
      ['Concuorse/Departures', 'Did you mean "Concourse"? To create it: --create'],
      ['Concourse/Departuers', 'Did you mean "Departures"? To create it: --create'],
      ['Departuers', 'Did you mean "Concourse/Departures"?'],
      [
        'Concourse',
        "Name the screen, too: signage pair 'Concourse/…'. For all of them: signage pair --venue Concourse --all",
      ],
    ];
    for (const [place, hint] of hints) {
      const { code, stderr } = await cli(['pair', place, '-o', 'json']);
      expect({ place, code, hint: JSON.parse(stderr).hint }).toEqual({ place, code: 3, hint });
    }
  });

  it('names the venues of a bound token that meets a foreign or unknown one', async () => {
    const venue = await service.venue({ name: 'Gate A' });
    const foreign = await service.venue({ name: 'Foreign' });
    await service.screen({ venueId: foreign.id, name: 'Main' });
    const { body } = await service.manage('POST', '/v1/tokens', {
      name: 'Fitter of the gate',
      role: 'operator',
      venueIds: [venue.id],
    });
    const fitter = cliOf(service, body.token);
    for (const [place, hint] of [
      ['Foreign/Main', 'signage venue list shows all venues.'],
      ['Gate B/Main', 'Did you mean "Gate A"?'],
    ] as const) {
      const { code, stderr } = await fitter(['pair', place]);
      const name = place.split('/')[0];
      expect({ code, stderr }).toEqual({
        code: 3,
        stderr: `signage: Your token is limited to the venues Gate A. It cannot see "${name}".\n  ${hint}\n`,
      });
    }
  });

  it('an invalid name is rejected by the service', async () => {
    const { venue } = await readyScreen();
    expect((await cli(['pair', '--venue', venue.name, '--screen', 'a/b', '--create'])).code).toBe(
      6,
    );
  });

  it('--dry-run shows what would be sent, and sends nothing', async () => {
    const { code, ndjson } = await cli([
      'pair',
      'Planned/Main',
      '--create',
      '--dry-run',
      '-o',
      'ndjson',
    ]);
    expect(code).toBe(0);
    expect(ndjson.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/venues',
      'POST /v1/screens',
      'POST /v1/devices/provisioning-codes',
    ]);
    expect((await service.manage('GET', '/v1/venues?name=Planned')).body.items).toEqual([]);
    const tv = await service.tv();
    const plan = await cli(['pair', tv.screenId, '--replace', '--dry-run', '-o', 'ndjson']);
    expect(plan.ndjson.map(({ path }) => path)).toEqual([
      `/v1/devices/${tv.deviceId}/revoke`,
      '/v1/devices/provisioning-codes',
    ]);
    expect((await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body.state).toBe('bound');
  });
});

describe('signage pair, a screen that has a TV', () => {
  it('5, and the TV keeps its screen', async () => {
    const tv = await service.tv();
    const { code, stdout, stderr } = await cli(['pair', tv.screenId, '-o', 'ndjson']);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'screen_already_bound',
      exitCode: 5,
      hint: expect.stringContaining('--replace'),
    });
    expect((await tv.send('GET', 'config')).status).toBe(200);
  });

  it.each([
    [[], 'Replaced by another TV (signage pair)'],
    [['--reason', 'Panel is broken'], 'Panel is broken'],
  ])('--replace %j revokes it, with the reason', async (more, suspendReason) => {
    const tv = await service.tv();
    const { code, ndjson } = await cli(
      ['pair', tv.screenId, '--replace', ...more, '--wait-for', 'registered', '-o', 'ndjson'],
      {
        during: async (io) => void (await runTv(await codeOf(io), { until: 'registered' })),
      },
    );
    expect({ code, first: ndjson[0].step }).toEqual({ code: 0, first: 'code' });
    expect((await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body).toMatchObject({
      state: 'suspended',
      suspendReason,
    });
    expect(ndjson.at(-1).deviceId).not.toBe(tv.deviceId);
  });
});

describe('signage pair, ended early', () => {
  it('8 after the timeout, and cancels the code', async () => {
    const { place } = await readyScreen();
    const { code, ndjson, stderr } = await cli(['pair', place, '--timeout', '1s', '-o', 'ndjson']);
    expect({ code, steps: ndjson.map(({ step }) => step) }).toEqual({ code: 8, steps: ['code'] });
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'wait_timed_out',
      hint: expect.stringContaining('was cancelled'),
    });
    expect(await codeStatus(ndjson[0].code)).toBe('cancelled');
  });

  it('8 when the TV registers but does not continue, with its state', async () => {
    const { place } = await readyScreen();
    const { code, ndjson, stderr } = await cli(['pair', place, '--timeout', '2s', '-o', 'ndjson'], {
      during: async (io) => void (await runTv(await codeOf(io), { until: 'registered' })),
    });
    expect(code).toBe(8);
    expect(stderr).toContain('has registered, but has not fetched its playlist yet');
    expect(await codeStatus(ndjson[0].code)).toBe('used');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const)('%s exits %i, leaves no code, and reports what remains', async (name, exitCode) => {
    const line = ['pair', `Inn ${name}/Main`, '--create', '-o', 'ndjson'];
    const { code, ndjson, stderr } = await cli(line, {
      during: async (io) => codeOf(io).then(() => io.signal(name)),
    });
    expect(code).toBe(exitCode);
    expect(await codeStatus(ndjson[0].code)).toBe('cancelled');
    expect(stderr).toContain(`the venue "Inn ${name}" was created`);
    expect(stderr).toContain('was cancelled');
    expect(stderr).toContain(`signage pair 'Inn ${name}/Main'`);
  });

  it('stops when somebody else cancels the code', async () => {
    const { place } = await readyScreen();
    const { code, stderr } = await cli(['pair', place, '-o', 'ndjson'], {
      during: async (io) =>
        service.manage('DELETE', `/v1/devices/provisioning-codes/${await codeOf(io)}`),
    });
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Somebody else cancelled the code'),
    });
  });

  it('5 when a TV registers with an earlier code of the screen, with its device', async () => {
    const { place, screen } = await readyScreen();
    const other = await service.code(screen.id);
    const { code, ndjson, stderr } = await cli(['pair', place, '-o', 'ndjson'], {
      during: async (io) => codeOf(io).then(() => runTv(other.code)),
    });
    const { deviceId } = (await service.manage('GET', `/v1/screens/${screen.id}`)).body;
    expect({ code, steps: ndjson.map(({ step }) => step) }).toEqual({ code: 5, steps: ['code'] });
    const [warning = '', problem = ''] = stderr.split('\n');
    expect(warning).toMatch(/Another pairing code is pending: for "Main", \d s ago\./);
    expect(JSON.parse(problem)).toMatchObject({
      code: 'pairing_code_used',
      exitCode: 5,
      detail: expect.stringMatching(
        new RegExp(`was paired with an earlier code, by Samsung QM55B \\(${deviceId}\\)`),
      ),
      hint: expect.stringContaining(`signage device replace '${place}'`),
    });
    expect(stderr).not.toContain('has no TV yet');
  });

  it('5 when a TV registers with a later code of the screen, with its time', async () => {
    const { place, screen } = await readyScreen();
    const { code, stderr } = await cli(['pair', place], {
      async during(io) {
        await io.until(/code +\S.*[A-Z2-9]{8}/);
        await runTv((await service.code(screen.id)).code);
      },
    });
    const { createdAt } = (await service.manage('GET', `/v1/screens/${screen.id}`)).body
      .provisioningCode;
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`with the code created at ${createdAt}, by Samsung`),
    });
  });

  it('5 when the device is revoked meanwhile', async () => {
    const { place } = await readyScreen();
    const { code, stderr } = await cli(['pair', place, '-o', 'ndjson'], {
      async during(io) {
        const { deviceId } = await runTv(await codeOf(io), { until: 'registered' });
        await service.manage('POST', `/v1/devices/${deviceId}/revoke`);
      },
    });
    expect({ code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('was revoked while'),
    });
  });

  it('3 when the screen is deleted meanwhile', async () => {
    const { place, screen } = await readyScreen();
    const { code } = await cli(['pair', place, '-o', 'ndjson'], {
      during: async (io) =>
        codeOf(io).then(() => service.manage('DELETE', `/v1/screens/${screen.id}`)),
    });
    expect(code).toBe(3);
  });
});

describe('signage pair, a code that expires', () => {
  it('replaces an expired code automatically', async () => {
    const clock = new ManualClock();
    const own = await startService({ clock });
    const screen = await own.screen({ name: 'Main' });
    const { code, ndjson } = await cliOf(own, adminToken)(
      ['pair', screen.id, '--timeout', '1h', '--wait-for', 'registered', '-o', 'ndjson'],
      {
        clock,
        async during(io) {
          const first = await codeOf(io);
          let now = first;
          const end = Date.now() + 15_000;
          while (now === first && Date.now() < end) {
            clock.advance(5000);
            await new Promise((resolve) => setTimeout(resolve, 5));
            now = JSON.parse(io.out().trimEnd().split('\n').at(-1) ?? '').code;
          }
          const ticking = setInterval(() => clock.advance(1000), 5);
          await runTv(now, { until: 'registered', url: own.url });
          await io.until(/registered/);
          clearInterval(ticking);
        },
      },
    );
    expect({ code, steps: ndjson.map(({ step }) => step) }).toEqual({
      code: 0,
      steps: ['code', 'code', 'registered'],
    });
    expect(ndjson[1].code).not.toBe(ndjson[0].code);
    expect(Date.parse(ndjson[1].at) - Date.parse(ndjson[0].at)).toBeGreaterThanOrEqual(15 * 60_000);
  });
});

describe('signage pair, a service that misbehaves', () => {
  const env = (url: string) => ({ SIGNAGE_URL: url, SIGNAGE_TOKEN: adminToken });
  const me = json(200, {
    tokenId: '0198c0de-0000-7000-8000-000000000001',
    name: 'x',
    role: 'admin',
    tenantId: null,
    tenantName: null,
  });

  it.each([
    ['HTML', raw(200, '<html>proxy</html>', { 'content-type': 'text/html' })],
    ['nothing', raw(200, '')],
    ['a broken connection', hangUp],
  ])('7 in a line when it answers %s', async (_, answer) => {
    const stub = await stubService(answer);
    const { code, stdout, stderr } = await runCli(['pair', 'Lobby/Main'], { env: env(stub.url) });
    await stub.close();
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr.split('\n').length).toBeLessThanOrEqual(3);
  });

  it('escapes hostile text in updates and results', async () => {
    const ids = {
      id: '0198c0de-0000-7000-8000-000000000002',
      tenantId: '0198c0de-0000-7000-8000-000000000003',
    };
    const times = { createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' };
    const evil = 'Evil\u001b[2J\u202e\n';
    const screen = {
      ...ids,
      ...times,
      venueId: ids.tenantId,
      name: evil,
      labels: {},
      state: 'provisioning',
      deviceId: null,
      provisioningCode: null,
    };
    const venue = {
      ...ids,
      ...times,
      id: ids.tenantId,
      name: evil,
      address: null,
      timezone: null,
      labels: {},
    };
    const made = {
      code: 'EVIL\u001b[2J',
      screenId: ids.id,
      status: 'pending',
      createdAt: times.createdAt,
      expiresAt: times.createdAt,
      expiresInSeconds: 900,
    };
    const stub = await stubService(
      me,
      json(200, screen),
      json(200, venue),
      json(201, made),
      problem(404, 'pairing_code_not_found', evil),
    );
    const { code, stdout, stderr } = await runCli(['pair', ids.id, '-o', 'json'], {
      env: env(stub.url),
    });
    await stub.close();
    expect(code).toBe(3);
    expect(stdout).toBe('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
    expect(stderr).not.toMatch(/[\u001b\u202e]/);
    expect(stderr).toContain('\\u001b[2J');
  });
});
