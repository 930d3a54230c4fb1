import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { FakeIo } from '../../support/fake-io.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startService, type TestService } from '../../support/service.ts';
import {
  json,
  problem,
  type StubService,
  silence,
  stubService,
} from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { config, registered, tvPlace } from '../../support/tv-place.ts';
import { runCli } from '../run-cli.ts';

let folder: string;
let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
  folder = await temporaryFolder();
});

let stub: StubService | undefined;
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});

let files = 0;
const newFile = () => join(folder, `tv-${++files}.json`);
/** Runs without a token. The service address is set only by `url`. */
const tv = (
  argv: readonly string[],
  options: Parameters<typeof runCli>[1] = {},
  url = service.url,
) => runCli(['tv', ...argv], { ...options, env: { SIGNAGE_URL: url, ...options.env } });
const place = () => tvPlace(service);

describe('The exit code of signage tv', () => {
  it('is 3 for an unknown code, 5 for a used or cancelled code, 2 for an invalid code', async () => {
    expect((await tv(['--code', 'ABCD2345'])).code).toBe(3);
    const { code } = await place();
    await service.register(code);
    const used = await tv(['--code', code]);
    expect(used).toMatchObject({ code: 5, stderr: expect.stringContaining('signage code create') });
    const other = await service.code();
    await service.manage('DELETE', `/v1/devices/provisioning-codes/${other.code}`);
    expect((await tv(['--code', other.code, '--once'])).code).toBe(5);
    const short = await tv(['--code', 'ABCD-234']);
    expect(short.code).toBe(2);
    expect(short.stderr).not.toContain('ABCD-234');
  });

  it('is 2 without a code and a terminal', async () => {
    for (const more of [[], ['--once']]) {
      expect(await tv(more)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Give a pairing code with --code'),
      });
    }
    expect(await tv(['--no-input'], { tty: true })).toMatchObject({ code: 2 });
  });

  it('is 7 when the service cannot be reached to register, after three tries', async () => {
    stub = await stubService(problem(503, 'unavailable', 'Later.'));
    const run = await tv(['--code', 'ABCD2345', '--speed', '60'], {}, stub.url);
    expect(run.code).toBe(7);
    expect(stub.heard.map(({ url }) => url)).toEqual(Array(3).fill('/devices/register'));
    expect(new Set(stub.heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect((await tv(['--code', 'ABCD2345', '--once'], {}, 'http://127.0.0.1:9')).code).toBe(7);
  });

  it('fails at once for a wrong service or address', async () => {
    stub = await stubService(problem(404, 'not_found', 'No such path.'));
    expect((await tv(['--code', 'ABCD2345'], {}, stub.url)).code).toBe(3);
    expect(stub.heard).toHaveLength(1);
    expect(await tv(['--code', 'ABCD2345', '--url', 'http://signage.example.com'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--insecure-http'),
    });
  });

  it('is 4 when the key is rejected, without a terminal', async () => {
    const { code, device } = await place();
    const file = newFile();
    await tv(['--code', code, '--state', file, '--once']);
    await service.manage('POST', `/v1/devices/${(await device()).id}/revoke`);
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
    const interrupt = async (io: FakeIo) => {
      await io.until(/shows/);
      io.signal('SIGINT');
    };
    expect((await tv(['--code', code, '--state', file], { during: interrupt })).code).toBe(130);
    const types = (await events()).map(({ type }: { type: string }) => type);
    expect([types.at(0), types.at(-1)]).toEqual(['app_started', 'app_stopped']);
    expect(JSON.parse(await readFile(file, 'utf8')).tv).toMatchObject({ queue: [] });
  });

  it('is 130 after two seconds when the service does not answer; unsent events are saved', async () => {
    stub = await stubService(
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
      while (stub?.heard.length !== 4) await new Promise(setImmediate);
      clock.advance(2000);
    };
    const run = await tv(['--code', 'ABCD2345', '--state', file], { clock, during }, stub.url);
    expect(run.code).toBe(130);
    expect(run.stderr).toMatch(/2 saved in .*tv-\d+\.json/);
    const { batch, queue } = JSON.parse(await readFile(file, 'utf8')).tv;
    expect([...batch.events, ...queue].map(({ type }) => type)).toEqual([
      'app_started',
      'app_stopped',
    ]);
  });

  it('is 130 after Ctrl-C in the middle of --once', async () => {
    stub = await stubService(silence);
    const during = async (io: FakeIo) => {
      await io.until(/registering/);
      while (stub?.heard.length === 0) await new Promise(setImmediate);
      io.signal('SIGINT');
    };
    expect((await tv(['--code', 'ABCD2345', '--once'], { during }, stub.url)).code).toBe(130);
  });

  it('is 1 when the key cannot be saved', async () => {
    const gone = await temporaryFolder();
    stub = await stubService(async (response, request) => {
      await rm(gone, { recursive: true });
      json(201, registered)(response, request);
    });
    const run = await tv(['--code', 'ABCD2345', '--state', join(gone, 'tv.json')], {}, stub.url);
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
