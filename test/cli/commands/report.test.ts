import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { impression } from '../../support/content.ts';
import { adminToken, type BoundTv, type TestService } from '../../support/service.ts';
import { json as jsonAnswer, problem, stubService } from '../../support/stub-service.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
let as: (role: string) => Promise<Cli>;
let tv: BoundTv;
const [spring, summer] = [randomUUID(), randomUUID()].toSorted();

beforeAll(async () => {
  ({ cli, service, as } = await startCli());
  const { id: venueId } = await service.venue({ name: 'Lobby' });
  tv = await service.tv((await service.screen({ venueId, name: 'Main' })).id);
  const at = (day: number) => Date.UTC(2026, 4, day) / 1000;
  await tv.send('POST', 'events', {
    body: [
      impression({ campaignId: spring, timestamp: at(1), duration: 10 }),
      impression({ campaignId: spring, timestamp: at(2), duration: 2.5 }),
      impression({ campaignId: summer, timestamp: at(2) }),
    ],
  });
});

const report = (...words: string[]) => cli(['report', 'impressions', ...words]);

describe('signage report impressions', () => {
  it('prints the counts of the service by campaign', async () => {
    expect((await report('-o', 'json')).json).toEqual([
      { key: spring, impressions: 2, seconds: 12.5 },
      { key: summer, impressions: 1, seconds: 0 },
    ]);
    expect((await report()).stdout).toMatch(
      /^KEY +IMPRESSIONS +SECONDS\n\S+ +2 +12\.5\n\S+ +1 +0\n$/,
    );
  });

  it('prints CSV with the columns of the service', async () => {
    const line = 'groupBy=day&by=timestamp';
    const { text } = await service.manage('GET', `/v1/reports/impressions?${line}`, undefined, {
      headers: { accept: 'text/csv' },
    });
    expect((await report('--group-by', 'day', '--by', 'timestamp', '-o', 'csv')).stdout).toBe(text);
  });

  it('counts whole days, the last one exclusive', async () => {
    expect(
      (
        await report(
          '--group-by',
          'day',
          '--from',
          '2026-05-01',
          '--to',
          '2026-05-02',
          '-o',
          'json',
        )
      ).json,
    ).toEqual([{ key: '2026-05-01', impressions: 1, seconds: 10 }]);
  });

  it('counts by the day of receipt', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect((await report('--group-by', 'day', '--by', 'received', '-o', 'json')).json).toEqual([
      { key: today, impressions: 3, seconds: 12.5 },
    ]);
  });

  it('leaves out simulated TVs and says how many impressions, unless --include-simulated is given', async () => {
    const { id: screenId } = await service.screen();
    const codes = '/v1/devices/provisioning-codes';
    const { code } = (await service.manage('POST', codes, { screenId, simulated: true })).body;
    const key = (await service.register(code)).body.apiKey;
    const body = [impression({ timestamp: Date.UTC(2026, 5, 1) / 1000, duration: 5 })];
    await service.send('POST', `/devices/${screenId}/events`, { key, body });
    const june = ['--group-by', 'day', '--from', '2026-06-01', '-o', 'json'];
    expect(await report(...june)).toMatchObject({
      code: 0,
      json: [],
      stderr: 'Left out 1 impression of simulated TVs. --include-simulated counts it.\n',
    });
    expect(await report(...june, '--include-simulated')).toMatchObject({
      json: [{ key: '2026-06-01', impressions: 1, seconds: 5 }],
      stderr: '',
    });
    expect((await report('--to', '2026-06-01')).stderr).toBe('');
  });

  it('says how many impressions of the selected screens it leaves out', async () => {
    await service.screen({ name: 'Alone', labels: { alone: 'yes' } });
    const run = await report('--selector', 'alone=yes', '-o', 'json');
    expect([run.code, run.json, run.stderr]).toEqual([0, [], '']);
  });

  it('counts all TVs of a service that does not know which are simulated, and says so', async () => {
    const message = 'is not a known query parameter: check its spelling';
    const errors = [{ path: 'query.simulated', message }];
    const refusal = problem(400, 'invalid_request', message, { errors });
    const items = [{ key: '2026-06-01', impressions: 1, seconds: 5 }];
    const stub = await stubService(refusal, jsonAnswer(200, { items }));
    try {
      const run = await cliOf(stub, adminToken)(['report', 'impressions', '-o', 'json']);
      expect(run).toMatchObject({ code: 0, json: items });
      expect(run.stderr).toMatch(/^This service cannot tell simulated TVs from others/);
      expect(stub.heard.map(({ url }) => url.split('?')[1])).toEqual([
        'simulated=exclude',
        undefined,
      ]);
    } finally {
      await stub.close();
    }
  });

  it.each([
    ['screen', 'Lobby/Main'],
    ['venue', 'Lobby'],
  ])('prints the name of each %s', async (group, name) => {
    expect((await report('--group-by', group)).stdout).toMatch(
      new RegExp(`^IMPRESSIONS +SECONDS +NAME\\n3 +12\\.5 +${name}\\n$`),
    );
    expect((await report('--group-by', group, '-o', 'json')).json[0]).toEqual({
      key: expect.any(String),
      impressions: 3,
      seconds: 12.5,
    });
  });

  it.each([80, 60])('draws bars that fit a terminal of %i columns', async (columns) => {
    const { stdout } = await report();
    expect(stdout).not.toContain('█');
    const terminal = await cli(['report', 'impressions', '--group-by', 'venue'], {
      tty: true,
      columns,
      env: { NO_COLOR: '1' },
    });
    const byDay = await cli(['report', 'impressions', '--group-by', 'day'], {
      tty: true,
      columns,
      env: { NO_COLOR: '1' },
    });
    expect(terminal.stdout).toMatch(/^3 +12\.5 +Lobby +█+$/m);
    expect(byDay.stdout).toMatch(/^2026-05-01 +1 +10 +█+$/m);
    for (const line of `${terminal.stdout}${byDay.stdout}`.split('\n'))
      expect(line.length).toBeLessThanOrEqual(columns);
  });

  it('says on stderr that nothing was played, and prints an empty list as JSON', async () => {
    const range = ['--from', '2020-01-01', '--to', '2020-01-02'];
    expect(await report(...range)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Nothing found.\n',
    });
    expect(await report(...range, '--quiet')).toMatchObject({ stdout: '', stderr: '' });
    expect(await report(...range, '-o', 'json')).toMatchObject({ stdout: '[]\n', stderr: '' });
  });

  it.each([
    ['2026-05-02', '2026-05-01'],
    ['2026-05-01', '2026-05-01'],
  ])('2 for --from %s --to %s', async (from, to) => {
    const run = await report('--from', from, '--to', to);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('--from must be before --to');
  });

  it.each([
    ['--from', 'yesterday'],
    ['--to', '2026-02-30'],
    ['--from', '2026-11-20T08:00:00Z'],
  ])('2 for %s %s', async (flag, day) => {
    const run = await report(flag, day);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toBe(
      `signage: ${flag} must be a day in UTC such as 2026-11-20, not "${day}".\n`,
    );
  });

  it('has at most --limit rows', async () => {
    expect((await report('--limit', '1', '-o', 'ndjson')).ndjson).toHaveLength(1);
    expect((await report('--group-by', 'creative', '-o', 'name')).stdout.split('\n')).toHaveLength(
      4,
    );
  });

  it.each([
    ['a group that there is none of', ['--group-by', 'city'], 2],
    ['a clock that there is none of', ['--by', 'moon'], 2],
  ])('refuses %s', async (_, words, code) => {
    expect(await report(...words)).toMatchObject({ code, stdout: '' });
  });

  it('works for viewers; 4 for an invalid token', async () => {
    expect((await (await as('viewer'))(['report', 'impressions'])).code).toBe(0);
    expect(
      (await cli(['report', 'impressions'], { env: { SIGNAGE_TOKEN: 'mak_none' } })).code,
    ).toBe(4);
  });
});
