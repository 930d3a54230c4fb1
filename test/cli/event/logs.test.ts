import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { adminToken, type BoundTv, type TestService } from '../../support/service.ts';
import { json, problem, stubService } from '../../support/stub-service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;

beforeAll(async () => {
  ({ cli, service, as } = await startCli());
});

const unknownKey = `dak_${'0'.repeat(49)}`;
const tvCalled = async (name: string): Promise<BoundTv> => {
  const { id: venueId } = await service.venue({ name: `Venue of ${name}` });
  return service.tv((await service.screen({ venueId, name })).id);
};
const operations = (lines: { operation: string }[]) => lines.map(({ operation }) => operation);

describe('signage logs', () => {
  it('lists the requests of a screen, newest first, as the service has them', async () => {
    const tv = await tvCalled('Main');
    await tv.send('GET', 'config');
    await tv.send('GET', 'playlist');
    const run = await cli(['logs', 'Venue of Main/Main', '-o', 'json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const listed = await service.manage('GET', `/v1/requests?screenId=${tv.screenId}`);
    expect(run.json).toEqual(listed.body.items);
    expect(operations(run.json)).toEqual(['getPlaylist', 'getDeviceConfig', 'registerDevice']);
    const one = await cli(['logs', 'Main', '--limit', '1', '-o', 'name']);
    expect(one.stdout).toBe(`${run.json[0].id}\n`);
  });

  it('shows why a request was refused; -o wide shows what to do', async () => {
    const tv = await tvCalled('Refused');
    await tv.send('GET', 'config');
    await service.send('GET', `/devices/${tv.screenId}/playlist`, { key: unknownKey });
    const { stdout } = await cli(['logs', 'Refused', '--refused']);
    expect(stdout).toMatch(
      /^AT +SCREEN +OPERATION +STATUS +REASON\n\S+Z +Venue of Refused\/Refused +getPlaylist +401 +device_key_invalid\n$/,
    );
    expect((await cli(['logs', 'Refused', '--refused', '-o', 'wide'])).stdout).toContain(
      'Unknown device key: check the stored key, then pair again.',
    );
  });

  it('filters by device and time', async () => {
    const tv = await tvCalled('Filters');
    await tv.send('GET', 'config');
    const line = ['logs', '-o', 'json', '--device'];
    for (const device of ['Venue of Filters/Filters', tv.deviceId])
      expect(operations((await cli([...line, device])).json)).toEqual(['getDeviceConfig']);
    expect((await cli([...line, tv.deviceId, '--since', '1h'])).json).toHaveLength(1);
    expect((await cli([...line, tv.deviceId, '--until', '1h'])).json).toEqual([]);
  });

  it.each<[string, string[], number, RegExp]>([
    ['an end with --follow', ['--follow', '--until', '1h'], 2, /Leave out --until/],
    ['a form that needs an end', ['--follow', '-o', 'json'], 2, /-o ndjson/],
    ['an unknown screen', ['Nowhere'], 3, /There is no screen "Nowhere"/],
    ['an unknown id', [randomUUID()], 3, /There is no screen with this id/],
    ['an unknown device', ['--device', randomUUID()], 3, /There is no device with this id/],
    ['a malformed time', ['--since', 'soon'], 2, /--since must be a time/],
  ])('fails for %s', async (_, argv, code, message) => {
    const run = await cli(['logs', ...argv]);
    expect([run.code, run.stdout]).toEqual([code, '']);
    expect(run.stderr).toMatch(message);
  });

  it('2 for a device of another screen', async () => {
    const own = await tvCalled('Own');
    const other = await tvCalled('Other');
    for (const device of [other.deviceId, 'Venue of Other/Other']) {
      const run = await cli(['logs', 'Own', '--device', device]);
      expect([run.code, run.stdout]).toEqual([2, '']);
      expect(run.stderr).toContain(`The device "${device}" does not belong to the screen "Own".`);
    }
    expect((await cli(['logs', 'Own', '--device', own.deviceId])).code).toBe(0);
  });

  it('2 for a range that ends before it begins', async () => {
    const { code, stderr } = await cli(['logs', '--since', '1h', '--until', '2h']);
    expect(code).toBe(2);
    expect(stderr).toContain('--until');
  });

  it('4 for a token below operator, and for none', async () => {
    const run = await (await as('installer'))(['logs']);
    expect([run.code, run.stdout]).toEqual([4, '']);
    expect((await (await as('operator'))(['logs', '--limit', '1'])).code).toBe(0);
  });

  it('says that an older service lacks the endpoint', async () => {
    const stub = await stubService(problem(404, 'not_found', 'There is nothing at this path.'));
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const run = await runCli(['logs', '-o', 'ndjson'], { env });
    await stub.close();
    expect([run.code, run.stdout]).toEqual([3, '']);
    expect(run.stderr).toContain('update it');
  });
});

describe('signage logs --follow', () => {
  it('prints each new request once, oldest first; 130 at Ctrl-C', async () => {
    const tv = await tvCalled('Follow');
    await tv.send('GET', 'playlist');
    const run = await cli(['logs', 'Follow', '--follow', '-o', 'ndjson'], {
      async during(io) {
        for (let n = 0; !io.out().includes('getDeviceConfig') && n < 100; n++) {
          if (n % 10 === 0) await tv.send('GET', 'config');
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        await tv.send('GET', 'playlist');
        await service.send('GET', `/devices/${tv.screenId}/events`, { key: unknownKey });
        await service.send('GET', `/devices/${tv.screenId}/config`, { key: unknownKey });
        await io.until(/device_key_invalid/);
        io.signal('SIGINT');
      },
    });
    expect([run.code, run.stderr]).toEqual([130, '']);
    const ids = run.ndjson.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted());
    const last = run.ndjson.slice(-2);
    expect(last.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'getPlaylist 404',
      'getDeviceConfig 401',
    ]);
    expect(operations(run.ndjson.slice(0, -2)).every((one) => one === 'getDeviceConfig')).toBe(
      true,
    );
  });

  it('starts at --since, and ends after --limit requests', async () => {
    const tv = await tvCalled('Since');
    for (const what of ['config', 'playlist'] as const) await tv.send('GET', what);
    const line = ['logs', '-F', '--device', tv.deviceId, '--since', '1h', '--limit', '2'];
    const run = await cli([...line, '-o', 'json']);
    expect([run.code, operations(run.json)]).toEqual([0, ['getDeviceConfig', 'getPlaylist']]);
  });

  it('prints nothing from before --since', async () => {
    const tv = await tvCalled('Earlier');
    await tv.send('GET', 'config');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = new Date().toISOString();
    await tv.send('GET', 'playlist');
    const line = ['logs', '-F', '--device', tv.deviceId, '--since', since, '--limit', '2'];
    const run = await cli([...line, '-o', 'ndjson'], {
      async during(io) {
        await io.until(/getPlaylist/);
        await tv.send('GET', 'playlist');
      },
    });
    expect([run.code, operations(run.ndjson)]).toEqual([0, ['getPlaylist', 'getPlaylist']]);
  });

  it('ends quietly when stdout closes', async () => {
    const tv = await tvCalled('Closed');
    await tv.send('GET', 'config');
    const gone = new AbortController();
    const io = fakeIo({
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, XDG_CONFIG_HOME: '/nowhere' },
    });
    const stdout = { isTTY: false, write: io.stdout.write, gone: gone.signal };
    const running = main(['logs', 'Closed', '-F', '--since', '1h', '-o', 'ndjson'], {
      ...io,
      stdout,
    });
    await io.until(/getDeviceConfig/);
    gone.abort();
    expect([await running, io.err()]).toEqual([0, '']);
  });

  it('does not busy-poll an empty list', async () => {
    const stub = await stubService(json(200, { items: [], nextCursor: null }));
    const run = await runCli(['logs', '--follow', '-o', 'ndjson'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
      async during(io) {
        await new Promise((resolve) => setTimeout(resolve, 400));
        io.signal('SIGINT');
      },
    });
    await stub.close();
    expect([run.code, run.stdout]).toEqual([130, '']);
    expect(stub.heard.length).toBeLessThanOrEqual(2);
  });

  it('7 with the way to resume when the service becomes unreachable', async () => {
    const stub = await stubService(json(200, { items: [], nextCursor: null }));
    await stub.close();
    const run = await runCli(['logs', '--follow', '--since', '1h', '-o', 'ndjson'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
    });
    expect(run.code).toBe(7);
    expect(JSON.parse(run.stderr).hint).toMatch(/--since \S+Z resumes/);
  });
});
