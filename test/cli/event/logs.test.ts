import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { json, stubService } from '../../support/network/stub-service.ts';
import type { BoundTv, TestService } from '../../support/service/service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const unknownKey = `dak_${'0'.repeat(49)}`;
const tvCalled = async (name: string): Promise<BoundTv> => {
  const { id: venueId } = await service.venue({ name: `Venue of ${name}` });
  return service.tv((await service.screen({ venueId, name })).id);
};
const operations = (lines: { operation: string }[]) => lines.map(({ operation }) => operation);

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

  it('does not busy-poll an empty list', async () => {
    const stub = await stubService(json(200, { items: [], nextCursor: null }));
    const run = await runCli(['logs', '--follow', '-o', 'ndjson'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
      async during(io) {
        await new Promise((resolve) => setTimeout(resolve, 400));
        io.signal('SIGINT');
      },
    });
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
