import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, problem } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { config, registered } from '../../support/service/tv-place.ts';
import { runCli } from '../run-cli.ts';
import { runTv, startTvService, stubOfTest } from './run-tv.ts';

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
const whats = (lines: { what: string }[]) => lines.map(({ what }) => what);

describe('The state file of signage tv', () => {
  it('restores the same TV with its playlist, without a new code', async () => {
    const { code, device, events } = await place();
    const file = newFile();
    await tv(['--code', code, '--state', file, '--once', '--profile', 'sony-bravia']);
    const first = await device();
    // The same command line again: the TV is already paired, so the code is ignored.
    const again = await tv(['--code', code, '--state', file, '--once', '-o', 'ndjson']);
    expect(again.code).toBe(0);
    expect(whats(again.ndjson)).not.toContain('bound');
    expect(again.ndjson.find(({ operation }) => operation === 'getPlaylist')).toMatchObject({
      status: 304,
    });
    expect((await device()).id).toBe(first.id);
    expect(await events()).toHaveLength(2);
    expect((await readdir(folder)).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('records the service, and sends its key to no other', async () => {
    const { code } = await place();
    const file = newFile();
    await tv(['--code', code, '--state', file, '--once']);
    expect((await runCli(['tv', '--state', file, '--once'])).code).toBe(0);
    expect(
      (await runCli(['tv', '--state', file, '--once', '--url', `${started.service.url}/`])).code,
    ).toBe(0);
    const stub = await stubOfTest(json(200, {}));
    const run = await runCli(['tv', '--state', file, '--once', '--url', stub.url]);
    expect(run).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Its key is not sent to'),
    });
    expect(stub.heard).toEqual([]);
  });

  it('has mode 0600 from its creation on', async () => {
    const file = newFile();
    const stub = await stubOfTest(async (response, request) => {
      // The registration is saved before it is sent, with the idempotency key for retries.
      const { mode } = await stat(file);
      expect((mode & 0o777).toString(8)).toBe('600');
      expect(JSON.parse(await readFile(file, 'utf8')).tv.registering).toMatchObject({
        idempotencyKey: request.headers['idempotency-key'],
      });
      problem(404, 'pairing_code_not_found', 'No.')(response, request);
    });
    expect((await runTv(stub.url, ['--code', 'ABCD2345', '--state', file, '--once'])).code).toBe(3);
    expect(stub.heard).toHaveLength(1);
  });

  it.each([
    ['no JSON', '{"format":1,'],
    ['nothing', ''],
    ['another file', '{"contexts":{}}'],
    [
      'a later format',
      '{"format":2,"service":"http://127.0.0.1:1","deviceInfo":{},"tv":{"format":1,"queue":[]}}',
    ],
    [
      'a queue of nonsense',
      '{"format":1,"service":"http://127.0.0.1:1","deviceInfo":{},"tv":{"format":1,"queue":[7]}}',
    ],
  ])('6 when it holds %s, and is not changed', async (_, text) => {
    const file = newFile();
    await writeFile(file, text, { mode: 0o600 });
    expect(await tv(['--code', 'ABCD2345', '--state', file])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('is damaged'),
    });
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('6 when it is readable by others, or unusable', async () => {
    const { code } = await place();
    const file = newFile();
    await tv(['--code', code, '--state', file, '--once']);
    await chmod(file, 0o640);
    expect(await tv(['--state', file, '--once'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`chmod 600 ${file}`),
    });
    expect((await tv(['--state', join(folder, 'nowhere', 'tv.json'), '--once'])).code).toBe(6);
    expect((await tv(['--state', folder, '--once'])).code).toBe(6);
  });

  it('5 when another signage tv uses it', async () => {
    const { code } = await place();
    const file = newFile();
    let second: { code: number; stderr: string } | undefined;
    const during = async (io: FakeIo) => {
      await io.until(/shows/);
      second = await tv(['--state', file, '--once']);
      io.signal('SIGINT');
    };
    expect((await tv(['--code', code, '--state', file], { during })).code).toBe(130);
    expect(second).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Another signage tv uses'),
    });
    expect((await tv(['--state', file, '--once'])).code).toBe(0);
  });

  it('sends a batch again with the same bytes and key after a restart', async () => {
    const answers = [
      json(201, registered),
      json(200, config),
      problem(404, 'playlist_not_found', 'None.'),
    ];
    const stub = await stubOfTest(...answers, problem(503, 'unavailable', 'Later.'));
    const file = newFile();
    expect((await runTv(stub.url, ['--code', 'ABCD2345', '--state', file, '--once'])).code).toBe(7);
    stub.answers = [
      ...answers.slice(1),
      (response, { body }) =>
        void json(202, { received: JSON.parse(body).length })(response, stub.heard.at(-1)!),
    ];
    expect((await runTv(stub.url, ['--state', file, '--once'])).code).toBe(0);
    const posts = stub.heard.filter(({ url }) => url.endsWith('/events'));
    expect(posts.at(-2)).toMatchObject({
      body: posts[0]?.body,
      headers: { 'idempotency-key': posts[0]?.headers['idempotency-key'] },
    });
    expect(posts.at(-1)?.headers['idempotency-key']).not.toBe(posts[0]?.headers['idempotency-key']);
  });
});
