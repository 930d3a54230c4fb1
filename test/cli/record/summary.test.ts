import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

const startMs = Date.parse('2026-11-20T12:00:00.000Z');
const screenId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

const exchange = (atSeconds: number, more: object) => ({
  at: new Date(startMs + atSeconds * 1000).toISOString(),
  ms: 5,
  operation: null,
  method: 'GET',
  path: '/devices/x',
  request: { headers: { authorization: 'Bearer dak_#1' } },
  status: 200,
  answer: { headers: {} },
  outcome: 'answered',
  wrong: [],
  ...more,
});

const registration = exchange(0, {
  operation: 'registerDevice',
  method: 'POST',
  path: '/devices/register',
  request: { headers: {}, json: { pairingCode: 'code_#1' } },
  status: 201,
  answer: {
    headers: {},
    json: {
      apiKey: 'dak_#1',
      screenId,
      config: { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1 },
    },
  },
});
const poll = (atSeconds: number) =>
  exchange(atSeconds, { operation: 'getPlaylist', status: atSeconds < 10 ? 200 : 304 });
const heartbeat = (atSeconds: number) =>
  exchange(atSeconds, {
    operation: 'postEvents',
    method: 'POST',
    status: 202,
    request: {
      headers: { authorization: 'Bearer dak_#1', 'idempotency-key': 'idempotency_#1' },
      json: [{ type: 'heartbeat', timestamp: startMs / 1000 + atSeconds }],
    },
    wrong: [{ in: 'request', path: '/0', message: 'must be better', section: '2.5' }],
  });

async function summarize(lines: readonly unknown[], argv: string[] = ['-o', 'json'], end = '\n') {
  const file = join(await temporaryFolder(), 'tv.ndjson');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join('') + end.slice(1));
  return runCli(['record', '--summary', file, ...argv]);
}

describe('signage record --summary', () => {
  it('counts requests and answers, and compares intervals with the config', async () => {
    const polls = Array.from({ length: 8 }, (_, at) => poll(1 + at * 31));
    // A repeated batch has the same heartbeat.
    const beats = [60, 60, 120, 180].map(heartbeat);
    const run = await summarize([registration, ...beats, ...polls]);
    expect(run.code).toBe(0);
    expect(run.json).toEqual([
      expect.objectContaining({ tv: 1, screenId, operation: 'registerDevice', requests: 1 }),
      {
        tv: 1,
        screenId,
        operation: 'getPlaylist',
        requests: 8,
        answers: { 200: 1, 304: 7 },
        wrong: 0,
        everySeconds: 31,
        configSeconds: 300,
        remark: 'polls every 31 s, config says 300',
      },
      expect.objectContaining({ operation: 'postEvents', requests: 4, wrong: 4, remark: null }),
      expect.objectContaining({
        operation: 'heartbeat',
        requests: 3,
        everySeconds: 60,
        configSeconds: 60,
        remark: null,
      }),
    ]);
    const table = await summarize([registration, ...polls], []);
    expect(table.stdout).toMatch(/polls every 31 s, config says 300/);
    expect(table.stderr).toContain('9 exchanges in');
  });

  it('uses the last config, and keeps TVs and management requests apart', async () => {
    const config = exchange(2, {
      operation: 'getDeviceConfig',
      answer: { headers: {}, json: { syncIntervalMinutes: 0.5, heartbeatIntervalMinutes: 1 } },
    });
    const other = { request: { headers: { authorization: 'Bearer dak_#2' } } };
    const run = await summarize([
      registration,
      config,
      poll(3),
      poll(33),
      exchange(5, { operation: 'getPlaylist', ...other }),
      exchange(6, { operation: 'listVenues', path: '/v1/venues' }),
    ]);
    const rows = run.json.map(({ tv, operation, remark }: Record<string, unknown>) => [
      tv,
      operation,
      remark,
    ]);
    expect(rows).toEqual([
      [1, 'registerDevice', null],
      [1, 'getDeviceConfig', null],
      [1, 'getPlaylist', null],
      [2, 'getPlaylist', null],
      [null, 'listVenues', null],
    ]);
  });

  it('ignores an incomplete last line; 6 for any other line that is no exchange', async () => {
    expect(await summarize([registration], ['-o', 'json'], '\n{"at":"2026')).toMatchObject({
      code: 0,
    });
    for (const bad of [
      {},
      { ...registration, path: '@evil.test/' },
      { ...registration, at: 'x' },
    ]) {
      const run = await summarize([registration, bad]);
      expect(run.code).toBe(6);
      expect(run.stderr).toMatch(/tv\.ndjson, line 2,\s+is not an\s+exchange/);
    }
  });

  it('2 for a file that does not exist', async () => {
    expect((await runCli(['record', '--summary', '/nowhere/tv.ndjson'])).code).toBe(2);
  });
});
