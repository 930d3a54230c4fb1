import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, problem, raw, silence } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { config, registered } from '../../support/service/tv-place.ts';
import { runTv, startTvService, stopAfter, stubOfTest } from './run-tv.ts';

let started: Awaited<ReturnType<typeof startTvService>>;
let folder: string;
beforeAll(async () => {
  started = await startTvService();
  folder = await temporaryFolder();
});

let files = 0;
const newFile = () => join(folder, `tv-${++files}.json`);
const tv: typeof started.tv = (argv, options) => started.tv(argv, options);
const place = () => started.place();

describe('The exit code of signage tv', () => {
  it('is 7 when the service cannot be reached to register, after three tries', async () => {
    const stub = await stubOfTest(problem(503, 'unavailable', 'Later.'));
    const run = await runTv(stub.url, ['--code', 'ABCD2345', '--speed', '60']);
    expect(run.code).toBe(7);
    expect(stub.heard.map(({ url }) => url)).toEqual(Array(3).fill('/devices/register'));
    expect(new Set(stub.heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect((await runTv('http://127.0.0.1:9', ['--code', 'ABCD2345', '--once'])).code).toBe(7);
  });

  it.each([
    ['the registration', [raw(304, '')]],
    ['the config', [json(201, registered), raw(304, '')]],
  ])('is 7 for a 304 that it did not ask for, to %s', async (_, answers) => {
    const stub = await stubOfTest(...answers);
    const run = await runTv(stub.url, ['--code', 'ABCD2345', '--once']);
    expect(run).toMatchObject({ code: 7, stderr: expect.stringContaining('answered 304') });
  });

  it('is 3 at once for another service', async () => {
    const stub = await stubOfTest(problem(404, 'not_found', 'No such path.'));
    expect((await runTv(stub.url, ['--code', 'ABCD2345'])).code).toBe(3);
    expect(stub.heard).toHaveLength(1);
  });

  it('is 4 when the key is rejected, without a terminal', async () => {
    const { code, device } = await place();
    const file = newFile();
    await tv(['--code', code, '--state', file, '--once']);
    await started.service.manage('POST', `/v1/devices/${(await device()).id}/revoke`);
    const run = await tv(['--state', file]);
    expect(run).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Start it with a new code: --code'),
    });
    expect(run.stdout).toMatch(/unpaired {2}The key of this TV was revoked\./);
    // The key was deleted. A new code pairs the TV again.
    expect(await readFile(file, 'utf8')).not.toMatch(/dak_/);
    const fresh = await place();
    expect((await tv(['--state', file, '--code', fresh.code, '--once'])).code).toBe(0);
  });

  it('is 130 after Ctrl-C, when app_stopped is sent and the state is saved', async () => {
    const { code, events } = await place();
    const file = newFile();
    const during = stopAfter(/shows/);
    expect((await tv(['--code', code, '--state', file], { during })).code).toBe(130);
    const types = (await events()).map(({ type }: { type: string }) => type);
    expect([types.at(0), types.at(-1)]).toEqual(['app_started', 'app_stopped']);
    expect(JSON.parse(await readFile(file, 'utf8')).tv).toMatchObject({ queue: [] });
  });

  it('is 130 after two seconds when the service does not answer; unsent events are saved', async () => {
    const stub = await stubOfTest(
      json(201, registered),
      json(200, config),
      problem(404, 'playlist_not_found', 'None.'),
      silence,
    );
    const clock = new ManualClock();
    const file = newFile();
    const during = async (io: FakeIo) => {
      await io.until(/playlist {2}404/);
      io.signal('SIGINT');
      await io.until(/app_stopped/);
      while (stub.heard.length !== 4) await new Promise(setImmediate);
      clock.advance(2000);
    };
    const run = await runTv(stub.url, ['--code', 'ABCD2345', '--state', file], { clock, during });
    expect(run.code).toBe(130);
    expect(run.stderr).toMatch(/2 saved in .*tv-\d+\.json/);
    const { batch, queue } = JSON.parse(await readFile(file, 'utf8')).tv;
    expect([...batch.events, ...queue].map(({ type }) => type)).toEqual([
      'app_started',
      'app_stopped',
    ]);
  });

  it('is 130 after Ctrl-C in the middle of --once', async () => {
    const stub = await stubOfTest(silence);
    const during = async (io: FakeIo) => {
      await io.until(/registering/);
      while (stub.heard.length === 0) await new Promise(setImmediate);
      io.signal('SIGINT');
    };
    expect((await runTv(stub.url, ['--code', 'ABCD2345', '--once'], { during })).code).toBe(130);
  });

  it('is 1 when the key cannot be saved', async () => {
    const gone = await temporaryFolder();
    const stub = await stubOfTest(async (response, request) => {
      await rm(gone, { recursive: true });
      json(201, registered)(response, request);
    });
    const run = await runTv(stub.url, ['--code', 'ABCD2345', '--state', join(gone, 'tv.json')]);
    expect(run).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`No such folder: ${gone}`),
    });
    expect(stub.heard).toHaveLength(1);
  });

  it('is 0 when stdout closes', async () => {
    const { code } = await place();
    const gone = new AbortController();
    const during = async (io: FakeIo) => {
      Object.assign(io.stdout, { gone: gone.signal });
      await io.until(/shows/);
      gone.abort();
    };
    expect((await tv(['--code', code], { during })).code).toBe(0);
  });
});
