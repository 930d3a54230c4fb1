import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { impression, item } from '../../support/service/management.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';

const clock = new ManualClock();
const copy = (argv: string[], env: Record<string, string> = {}) =>
  runCli(['store', 'copy', ...argv], { clock, env });
const serve = (store: string) => startService({ store, clock });
const folder = async () => join(await temporaryFolder(), 'data');

const items = (name: string) => [item({ creativeUrl: `https://media.example.com/${name}.mp4` })];
const batch = (at: number) => [impression({ timestamp: at })];

interface Life {
  old: TestService;
  tv: BoundTv;
  waiting: { code: string; screenId: string };
  fresh: { code: string; answer: string };
  sent: { body: object; key: string }[];
}

/** Creates a service with data whose keys and tokens must work on the copy too. */
async function live(store: string): Promise<Life> {
  const old = await serve(store);
  const tv = await old.tv();
  for (const name of ['one', 'two'])
    await old.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: items(name) });
  const sent: Life['sent'] = [];
  for (let day = 0; day < 3; day++) {
    const one = { body: batch(clock.now()), key: `batch ${day}` };
    sent.push(one);
    const { status } = await tv.send('POST', 'events', {
      body: one.body,
      headers: { 'idempotency-key': one.key },
    });
    expect(status).toBe(202);
    clock.set(clock.now() + dayMs);
  }
  await tv.send('GET', 'playlist');
  const { code } = await old.code();
  const headers = { 'idempotency-key': '0b9a7c1e-5d0f-4c1e-9a55-6f1d3a7b2c44' };
  const answer = (await old.register(code, { headers })).text;
  const waiting = await old.code();
  await old.close();
  return { old, tv, waiting, fresh: { code, answer }, sent };
}

/** Reads what people and TVs get from the service. */
async function told(service: TestService, tv: BoundTv): Promise<object> {
  const answers: Record<string, unknown> = {};
  for (const path of [
    '/v1/events?order=asc',
    '/v1/audit',
    '/v1/screens',
    '/v1/devices',
    `/v1/screens/${tv.screenId}/playlists`,
    '/v1/reports/impressions?groupBy=day',
  ]) {
    const { status, body } = await service.manage('GET', path);
    expect([path, status]).toEqual([path, 200]);
    answers[path] = body;
  }
  return answers;
}

describe('signage store copy', () => {
  let data: string;
  let life: Life;
  let before: object;
  beforeAll(async () => {
    data = await folder();
    life = await live(data);
    const service = await serve(data);
    before = await told(service, life.tv);
    await service.close();
  });

  it('copies a service from a data folder to a database and back without a visible change', async () => {
    const database = await freshDatabase();
    const back = await folder();
    const url = new URL(database);
    url.password = 's3cret';
    const file = join(await temporaryFolder(), 'url');
    await writeFile(file, `${url.href}\n`, { mode: 0o600 });
    const there = await copy(['--from', data, '--to-file', file, '-o', 'json']);
    expect([there.code, there.stderr]).toEqual([
      0,
      expect.stringContaining('Everything was copied and compared:'),
    ]);
    expect(there.json).toContainEqual({ section: 'batches', records: 3 });
    const again = await copy(['--to', back], { SIGNAGE_STORE_FROM: url.href });
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^SECTION +RECORDS\n/)]);
    expect(there.stdout + there.stderr + again.stdout + again.stderr).not.toContain('s3cret');
    for (const store of [database, back]) {
      const service = await serve(store);
      expect(await told(service, life.tv)).toEqual(before);
      await goesOn(service);
      await service.close();
    }
  });

  async function goesOn(service: TestService): Promise<void> {
    const { tv, sent, fresh, waiting } = life;
    const send = (what: string, sentAs: object = {}) =>
      service.send(what === 'events' ? 'POST' : 'GET', `/devices/${tv.screenId}/${what}`, {
        key: tv.apiKey,
        ...sentAs,
      });
    expect((await send('playlist')).body.items[0].creativeUrl).toContain('two');
    for (const { body, key } of sent)
      expect((await send('events', { body, headers: { 'idempotency-key': key } })).status).toBe(
        202,
      );
    expect((await service.manage('GET', '/v1/events')).body.items).toHaveLength(sent.length);
    const reused = await send('events', {
      body: batch(1),
      headers: { 'idempotency-key': 'batch 0' },
    });
    expect(reused.body.code).toBe('idempotency_key_reused');
    const headers = { 'idempotency-key': '0b9a7c1e-5d0f-4c1e-9a55-6f1d3a7b2c44' };
    const repeated = await service.register(fresh.code, { headers });
    expect([repeated.status, repeated.text]).toEqual([201, fresh.answer]);
    expect((await service.register(waiting.code)).body.screenId).toBe(waiting.screenId);
  }

  it('--dry-run lists the sections and copies nothing', async () => {
    const to = await folder();
    const { code, json } = await copy(['--from', data, '--to', to, '--dry-run', '-o', 'json']);
    expect([code, json[0]]).toEqual([0, { section: 'server', records: 1 }]);
    expect((await copy(['--from', data, '--to', to, '-o', 'name'])).code).toBe(0);
  });

  it('5 for a store in use, or a target that is not empty', async () => {
    const service = await serve(data);
    expect((await copy(['--from', data, '--to', await folder()])).code).toBe(5);
    expect((await copy(['--from', await folder(), '--to', data])).code).not.toBe(0);
    await service.close();
    const other = await folder();
    await (await serve(other)).close();
    const full = await copy(['--from', data, '--to', other]);
    expect([full.code, full.stderr]).toEqual([
      5,
      expect.stringContaining('Choose an empty folder.'),
    ]);
  });

  it('130 when interrupted; nothing is left, and the same command succeeds', async () => {
    const to = await folder();
    const argv = ['store', 'copy', '--from', data, '--to', to];
    const first = await runCli(argv, { clock, during: async (io) => void io.signal('SIGINT') });
    expect(first.code).toBe(130);
    expect(await readdir(join(to, '..'))).toEqual([]);
    expect((await runCli(argv, { clock })).code).toBe(0);
  });

  it('warns of a password in the command line, without showing it', async () => {
    const { code, stderr } = await copy([
      '--from',
      'postgres://me:s3cret@127.0.0.1:1/x',
      '--to',
      await folder(),
    ]);
    expect([code, stderr]).toEqual([7, expect.stringContaining('use --from-file')]);
    expect(stderr).not.toContain('s3cret');
  });
});
