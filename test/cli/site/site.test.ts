import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import {
  hangUp,
  json,
  problem,
  type StubService,
  stubService,
} from '../../support/network/stub-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/sites/aurora.yaml', import.meta.url));

const site = (...venues: object[]) => JSON.stringify({ version: 1, venues });
const item = (n: number, more: object = {}) => ({
  creativeId: `c1a0e5d2-47b3-4c68-9f2a-0000000005${String(n).padStart(2, '0')}`,
  creativeUrl: `https://media.example.com/${n}.jpg`,
  creativeType: 'image',
  duration: 10,
  ...more,
});

/** A venue with screens, each with a playlist. */
const largeVenue = (count: number) =>
  site({
    name: 'Lobby',
    screens: Array.from({ length: count }, (_, n) => ({
      name: `S${n}`,
      labels: { n: `${n}` },
      playlist: { items: [item(n % 3)] },
      config: { syncIntervalMinutes: 2 + (n % 5) },
    })),
  });

describe('signage apply', () => {
  let service: TestService<Clock>;
  let cli: Cli;
  beforeEach(async () => {
    ({ service, cli } = await startCli());
  });

  const apply = (text: string, ...more: string[]) =>
    cli(['apply', '-f', '-', '-o', 'json', ...more], { stdin: text });
  const diffCode = async (stdin: string) => (await cli(['diff', '-f', '-'], { stdin })).code;
  const get = async (path: string) => (await service.manage('GET', path)).body;
  const screens = async () => (await get('/v1/screens?limit=200')).items;

  it('applies the site of the fixtures, which a new service exports and applies as well', async () => {
    const run = await cli(['apply', '-f', fixture, '--unexamined']);
    expect(run).toMatchObject({ code: 0, stderr: 'Applied 7 records: 7 created.\n' });
    const board = (await screens()).find((one: { name: string }) => one.name === 'Menu board');
    const menu = await readFile(join(fixture, '../playlists/menu.json'), 'utf8');
    expect(await get(`/v1/screens/${board.id}/playlist`)).toMatchObject(JSON.parse(menu));
    const { stdout } = await cli(['export']);
    const other = await startCli();
    expect((await other.cli(['apply', '-f', '-'], { stdin: stdout })).code).toBe(0);
    expect((await other.cli(['export'])).stdout).toBe(stdout);
  });

  it('sends only reads the second time, with 40 screens', async () => {
    const text = largeVenue(40);
    const first = await apply(text, '--verbose');
    expect(first.code).toBe(0);
    // One call for all screens with the same playlist.
    expect(first.stderr.match(/^POST \/v1\/publications/gm)).toHaveLength(3);
    const { code, json: rows, stderr } = await apply(text, '--verbose');
    expect(code).toBe(0);
    expect(rows.every((row: { result: string }) => row.result === 'unchanged')).toBe(true);
    const requests = stderr.split('\n').filter((line) => /^[A-Z]+ \//.test(line));
    expect(requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
    // Venues, their screens, and for each screen its playlist and config, once.
    expect(requests).toHaveLength(2 + 2 * 40);
  });

  it('two concurrent runs both succeed', async () => {
    const text = largeVenue(20);
    const runs = await Promise.all([apply(text), apply(text)]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(await screens()).toHaveLength(20);
    expect(await diffCode(text)).toBe(0);
  });

  it('can be interrupted, and continues in the next run', async () => {
    const text = largeVenue(60);
    const run = await cli(['apply', '-f', '-', '--verbose'], {
      stdin: text,
      during: async (io) => {
        await io.until(/POST \/v1\/screens → 201/);
        io.signal('SIGINT');
      },
    });
    expect(run.code).toBe(130);
    expect(run.stderr).toMatch(/Interrupted after \d+ of 61 records\. Run the same command again/);
    const there = (await screens()).length;
    const [, whole] = /after (\d+) of/.exec(run.stderr) ?? [];
    const [, partly = 0] = /(\d+) more records? changed in part/.exec(run.stderr) ?? [];
    // The venue is a record, too.
    expect(Number(whole) + Number(partly)).toBe(there + 1);
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(60);
    expect((await apply(text)).code).toBe(0);
    expect(await diffCode(text)).toBe(0);
  });

  it('shows its progress on a terminal', async () => {
    const { stderr } = await cli(['apply', '-f', fixture], { tty: true });
    expect(stderr).toContain('\r\u001b[KReading current records');
    expect(stderr).toMatch(/Applying: \d of 7/);
  });
});

describe('signage apply, with a service that gives these answers:', () => {
  const times = { createdAt: '2026-11-20T12:00:00.000Z', updatedAt: '2026-11-20T12:00:00.000Z' };
  const record = { tenantId: 't', labels: {}, ...times };
  const venue = {
    ...record,
    id: 'v',
    name: 'Lobby',
    address: 'There',
    timezone: null,
    hours: null,
  };
  const page = (...items: object[]) => json(200, { items, nextCursor: null });
  const sent = ({ heard }: StubService) =>
    heard.map(({ method, url }) => `${method} ${url.split('?')[0]}`).slice(1);

  async function runWith(
    answers: Parameters<typeof stubService>,
    stdin: string,
    argv = ['apply', '-f', '-', '-o', 'json'],
  ) {
    const stub = await stubService(...answers);
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const run = await runCli(argv, { stdin, env });
    return { run, sent: sent(stub) };
  }

  it('a record that somebody else has just created is updated', async () => {
    const taken = problem(409, 'name_taken', 'taken', { existingId: 'v' });
    const answers = [page(), taken, json(200, venue), json(200, { ...venue, address: 'Here' })];
    const { run, sent } = await runWith(answers, site({ name: 'Lobby', address: 'Here' }));
    expect(run.json).toMatchObject([
      { name: 'Lobby', id: 'v', result: 'updated', changed: ['address'] },
    ]);
    expect(sent).toEqual(['POST /v1/venues', 'GET /v1/venues/v', 'PATCH /v1/venues/v']);
  });

  it('hostile text is escaped', async () => {
    const answers = [page(), problem(409, 'name_taken', 'no\u001b[2J')];
    const wanted = site({ name: 'Lobby', screens: [{ name: 'A' }] });
    const { run } = await runWith(answers, wanted, ['apply', '-f', '-']);
    expect(run.code).toBe(9);
    expect(run.stdout).toContain('no\\u001b[2J');
    expect(run.stdout).toContain('Its venue could not be created.');
    expect(run.stdout).not.toContain('\u001b');
  });

  it('7 when it becomes unreachable, after printing the results so far', async () => {
    const { run } = await runWith([page(), hangUp], site({ name: 'A' }));
    expect(run).toMatchObject({ code: 7, stdout: '[]\n' });
    expect(run.stderr).toContain('Stopped after 0 of 1 record.');
  });
});

it('signage export orders venues, screens and shared playlists by name, not by creation', async () => {
  const { service, cli } = await startCli();
  for (const name of ['Zoo 10', 'zoo 2', 'Äpfel', 'Bar']) {
    const { id: venueId } = await service.venue({ name });
    for (const screen of ['Window', 'Entrance', 'bar']) {
      const { id } = await service.screen({ venueId, name: screen });
      const items = [item(screen.length)];
      await service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
    }
  }
  const before = (await cli('export')).stdout;
  const names = [...before.matchAll(/^ {2}- name: (.*)$/gm)].map(([, name]) => name);
  expect(names).toEqual(['Bar', 'Zoo 10', 'zoo 2', 'Äpfel']);
  const screens = [...before.matchAll(/^ {6}- name: (.*)$/gm)].map(([, name]) => name);
  expect(screens.slice(0, 3)).toEqual(['Entrance', 'Window', 'bar']);
  // The same site, made in another order.
  const other = await startCli();
  const { venues = [], ...rest } = JSON.parse((await cli('export -o json')).stdout);
  for (const venue of venues.toReversed()) {
    const stdin = JSON.stringify({ ...rest, venues: [venue] });
    expect((await other.cli(['apply', '-f', '-'], { stdin })).code).toBe(0);
  }
  expect((await other.cli('export')).stdout).toBe(before);
});
