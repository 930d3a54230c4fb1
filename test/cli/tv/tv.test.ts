import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixtureNames } from '../../../src/cli/input/fixtures.ts';
import { type Clock, minuteMs, secondMs, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, problem } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { item } from '../../support/service/content.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';
import { runTv, startTvService, stopAfter, stubOfTest } from './run-tv.ts';

let started: Awaited<ReturnType<typeof startTvService>>;
let service: TestService<Clock>;
beforeAll(async () => {
  started = await startTvService();
  ({ service } = started);
});
const tv: typeof started.tv = (argv, options) => started.tv(argv, options);
const place = () => started.place();

/** Time that the command allows for a clean shutdown. */
const farewellMs = 2 * secondMs;

/** The real clock, but the test fires timers of these lengths. */
function clockWithAlarms(alarmsMs: readonly number[]) {
  const alarms = new Map<number, () => void>();
  const clock: Clock = {
    ...systemClock,
    after(delayMs, action) {
      if (!alarmsMs.includes(delayMs)) return systemClock.after(delayMs, action);
      alarms.set(delayMs, action);
      return () => void alarms.delete(delayMs);
    },
  };
  return { clock, ring: (alarmMs: number) => alarms.get(alarmMs)?.() };
}

const whats = (lines: { what: string }[]) => lines.map(({ what }) => what);

describe('signage tv', () => {
  it('draws who it is, starts anew when it is reloaded, and says both', async () => {
    const { code, screenId, events } = await place();
    const screenIds = [screenId];
    let identifyUntil: number | undefined;
    let reloadId: string | undefined;
    const run = await tv(['--code', code, '-o', 'ndjson'], {
      async during(io) {
        await io.until(/getDeviceChanges/);
        const identified = await service.manage('POST', '/v1/identify', { screenIds, seconds: 60 });
        ({ identifyUntil } = identified.body);
        await io.until(/"what":"identify"[^\n]*\n(?:.*\n)*.*acknowledged/);
        ({ reloadId } = (await service.manage('POST', '/v1/reload', { screenIds })).body);
        await io.until(/"reloadId":[^\n]*\n(?:.*\n)*.*"type":"app_started"[^\n]*"reloadId"/);
        // A reload that it had before its start is none.
        await io.until(/"type":"app_started"[^\n]*"reloadId"(?:.*\n)*.*getDeviceChanges/);
        io.signal('SIGINT');
      },
    });
    expect(run.code).toBe(130);
    const ofKind = (what: string) => run.ndjson.filter((entry) => entry.what === what);
    const { deviceId } = ofKind('bound')[0] as unknown as { deviceId: string };
    const identity = { venue: expect.any(String), screen: expect.any(String) };
    const drawn = { ...identity, device: deviceId.slice(-4) };
    // It goes on after the reload, and ends with the command.
    expect(ofKind('identify').map((entry) => entry.identity)).toEqual([drawn, null, drawn, null]);
    expect(ofKind('reload')).toMatchObject([{ reloadId }]);
    const told = (await events()).filter(({ type }: { type: string }) =>
      /^(identified|app_st)/.test(type),
    );
    const facts = ({ type, ...event }: Record<string, unknown>) => [
      type,
      event.identifyUntil ?? event.reloadId,
    ];
    expect(told.map(facts)).toEqual([
      ['app_started', undefined],
      ['identified', identifyUntil],
      ['app_stopped', undefined],
      ['app_started', reloadId],
      ['identified', identifyUntil],
      ['app_stopped', undefined],
    ]);
  });

  it('--once registers, fetches config and playlist, posts a heartbeat, and needs no token', async () => {
    const { code, screenId, device, events } = await place();
    const typed = `${code.slice(0, 4)}-${code.slice(4)}`.toLowerCase();
    const run = await tv(['--code', typed, '--once']);
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(/register {2}201 in \d+ ms\n.*paired {4}with the screen/);
    expect(run.stdout).toContain(screenId);
    expect(run.stdout).toMatch(
      /playlist {2}200 in(?:.*\n)*.*events {4}202 in.*\n.*stored {4}1 event\n/,
    );
    expect(run.stderr).toContain('Without --state this TV is lost');
    expect(await events()).toEqual([expect.objectContaining({ type: 'heartbeat' })]);
    expect((await device()).deviceInfo).toMatchObject({ manufacturer: 'Samsung', model: 'QB55C' });
    expect(run.stdout + run.stderr).not.toContain(code);
    expect(run.stdout + run.stderr).not.toMatch(/dak_/);
  });

  it('-o ndjson prints an object for each log entry, without secrets', async () => {
    const { code, screenId } = await place();
    const run = await tv(['--code', '-', '--once', '-o', 'ndjson'], { stdin: `${code}\n` });
    expect(run.code).toBe(0);
    const types = 'phase answer bound phase answer answer event sending answer acknowledged'.split(
      ' ',
    );
    expect(whats(run.ndjson).filter((what, at) => what !== 'phase' || at < 4)).toEqual(types);
    expect(run.ndjson[2]).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      what: 'bound',
      screenId,
      deviceId: expect.any(String),
      tenantId: expect.any(String),
    });
    expect(run.ndjson.find(({ operation }) => operation === 'getPlaylist')).toMatchObject({
      status: 200,
      ms: expect.any(Number),
    });
    expect(run.stdout).not.toContain(code);
    expect(run.stdout).not.toMatch(/dak_/);
  });

  it('sends the device info of profile and flags', async () => {
    const { code, device } = await place();
    const flags =
      '--profile lg-webos --manufacturer Nobody --model M --mac 02-00-00-00-00-01 --ip 2001:db8::1 --device-name Mine --location Here --app-version 9 --os-version 8';
    expect((await tv(['--code', code, '--once', ...flags.split(' ')])).code).toBe(0);
    expect((await device()).deviceInfo).toEqual({
      manufacturer: 'Nobody',
      model: 'M',
      osVersion: '8',
      appVersion: '9',
      macAddress: '02-00-00-00-00-01',
      ipAddress: '2001:db8::1',
      deviceName: 'Mine',
      locationHint: 'Here',
    });
  });

  it('has profiles of common manufacturers, and all can register', async () => {
    const names = fixtureNames('devices');
    expect(names.length).toBeGreaterThanOrEqual(10);
    for (const name of names) {
      const { code } = await service.code();
      expect((await tv(['--code', code, '--once', '--quiet', '--profile', name])).code).toBe(0);
    }
  });

  it('--rotate-every rotates the key, hides it in the output, and saves it', async () => {
    const { code, screenId } = await place();
    const state = join(await temporaryFolder(), 'tv.json');
    const rotated = /rotate {4}201 in \d+ ms\n.* key {7}uses a new key; keeps the previous one\n/;
    const run = await tv(
      ['--code', code, '--state', state, '--rotate-every', '10m', '--speed', '600'],
      { during: stopAfter(rotated) },
    );
    expect(run.code).toBe(130);
    expect(run.stdout).toMatch(rotated);
    expect(run.stdout + run.stderr).not.toMatch(/dak_/);
    const { binding, formerKey } = JSON.parse(await readFile(state, 'utf8')).tv;
    expect(formerKey.apiKey).not.toBe(binding.apiKey);
    expect(
      (await service.send('GET', `/devices/${screenId}/config`, { key: binding.apiKey })).status,
    ).toBe(200);
    expect((await tv(['--state', state, '--once'])).code).toBe(0);
  });

  it('returns to the previous key when the service does not know the new one', async () => {
    const { code } = await place();
    const state = join(await temporaryFolder(), 'tv.json');
    await tv(['--code', code, '--state', state, '--once']);
    const kept = JSON.parse(await readFile(state, 'utf8'));
    const { binding } = kept.tv;
    const unknown = `dak_${'0'.repeat(49)}`;
    kept.tv = {
      ...kept.tv,
      binding: { ...binding, apiKey: unknown },
      formerKey: { apiKey: binding.apiKey },
    };
    await writeFile(state, JSON.stringify(kept));
    const once = await tv(['--state', state, '--once', '-o', 'ndjson']);
    expect([once.code, once.ndjson.filter(({ status }) => status === 401)]).toEqual([
      0,
      [expect.anything()],
    ]);
    await writeFile(state, JSON.stringify(kept));
    const run = await tv(['--state', state, '--speed', '60', '-o', 'ndjson'], {
      during: stopAfter(/"fallBack"/),
    });
    expect(run.ndjson.find(({ what }) => what === 'fallBack')).toMatchObject({
      code: 'device_key_invalid',
    });
    expect(JSON.parse(await readFile(state, 'utf8')).tv.binding).toEqual(binding);
  });

  it('plays for --duration, faster with --speed, and reports its events at the end', async () => {
    const { code, events } = await place();
    const durationMs = 61 * minuteMs;
    const { clock, ring } = clockWithAlarms([durationMs, farewellMs]);
    const during = async (io: FakeIo) => {
      await io.until(/(?:"what":"show".*?){11}/s);
      ring(durationMs);
    };
    const run = await tv(['--code', code, '--duration', '61m', '--speed', '600', '-o', 'ndjson'], {
      clock,
      during,
    });
    expect(run.code).toBe(0);
    expect(run.ndjson.at(-1)).toMatchObject({ what: 'end', reason: 'stopped' });
    const shown = run.ndjson.filter(({ what }) => what === 'show');
    expect(shown.length).toBeGreaterThan(10);
    const stored = await events();
    expect(stored.at(-1)).toMatchObject({ type: 'app_stopped' });
    expect(stored).toEqual(
      run.ndjson.filter(({ what }) => what === 'event').map(({ event }) => event),
    );
    expect(run.stderr).toContain(`The TV has stopped: ${stored.length} events stored.`);
  });
});

describe('The service of signage tv', () => {
  it('is the service of the current context, without its token', async () => {
    const { code } = await place();
    const home = await temporaryFolder();
    await mkdir(join(home, 'signage'), { mode: 0o700 });
    const context = { url: service.url, token: 'mak_secret', tokenId: 't', role: 'admin' };
    const saved = { current: 'lobby', contexts: { lobby: context } };
    await writeFile(join(home, 'signage', 'contexts.json'), JSON.stringify(saved), { mode: 0o600 });
    const run = await runCli(['tv', '--code', code, '--once', '--verbose'], {
      env: { XDG_CONFIG_HOME: home },
    });
    expect(run.code).toBe(0);
    expect(run.stdout + run.stderr).not.toContain('mak_');
    // The token belongs to the context's service, so it is not used here.
    const stub = await stubOfTest((response, { headers }) => {
      expect(headers.authorization).toBeUndefined();
      problem(404, 'pairing_code_not_found', 'No.')(response, stub.heard[0]!);
    });
    const elsewhere = await runCli(['tv', '--code', 'ABCD2345', '--once', '--url', stub.url], {
      env: { XDG_CONFIG_HOME: home },
    });
    expect(elsewhere.code).toBe(3);
    expect(stub.heard).toHaveLength(1);
  });
});

describe('A service that signage tv talks to', () => {
  it('may become unreachable: the TV plays on, and sends its events later', async () => {
    const own = await startService<Clock>({ clock: systemClock, store: await temporaryFolder() });
    const { url } = own;
    const { port } = new URL(url);
    const { code, screenId } = await own.code();
    await own.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
    let back: TestService<Clock> | undefined;
    const during = async (io: FakeIo) => {
      await io.until(/stored {4}/);
      await own.close();
      await io.until(/phase {5}offline/);
      await io.until(/phase {5}offline.*(?: shows .*?){3}/s);
      back = await startService<Clock>({ clock: systemClock, port: Number(port) });
      io.signal('SIGINT');
    };
    const run = await runTv(url, ['--code', code, '--speed', '30'], { during });
    expect(run.code).toBe(130);
    expect(run.stdout).toContain('offline');
    await back?.close();
  });

  it('may send hostile text, which is escaped on the terminal', async () => {
    const nasty = 'x\u001b[2J\u0007\u202ey';
    const config = {
      syncIntervalMinutes: 5,
      heartbeatIntervalMinutes: 1,
      cachePolicy: { maxSizeGB: nasty, retentionDays: 7 },
    };
    const ids = { id: nasty, deviceId: nasty, screenId: nasty, tenantId: nasty };
    const playlist = { ...ids, status: 'active', version: 1, validUntil: 4e9 };
    const creative = { creativeId: nasty, creativeUrl: nasty, creativeType: nasty };
    const items = [{ ...creative, duration: 0.5, campaignId: nasty }];
    const stub = await stubOfTest((response, request) => {
      const answer = {
        register: json(201, { ...ids, apiKey: 'dak_key', config }),
        playlist: json(200, { ...playlist, items }),
        config: json(200, config),
      }[request.url.split('/').at(-1) ?? ''];
      (answer ?? problem(503, 'unavailable', nasty))(response, request);
    });
    for (const more of [[], ['-o', 'ndjson']]) {
      const run = await runTv(stub.url, ['--code', 'ABCD2345', ...more], {
        during: stopAfter(/\\u001b\[2J/),
      });
      expect(run.stdout).toContain('\\u001b[2J');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
      expect(run.stdout + run.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });
});
