import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { json, problem, stubService } from '../../support/network/stub-service.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { adminToken, type BoundTv, type TestService } from '../../support/service/service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;

beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const tvCalled = async (name: string) => {
  const { id: venueId } = await service.venue({ name: `Venue of ${name}` });
  return service.tv((await service.screen({ venueId, name })).id);
};
const report = (tv: BoundTv, ...events: object[]) => tv.send('POST', 'events', { body: events });
const beat = (n: number) => ({ type: 'heartbeat', timestamp: 1760000000 + n, n });
const numbers = (lines: { event: { n?: number } }[]) => lines.map(({ event }) => event.n);

describe('signage event list', () => {
  it('fetches all pages with --after', async () => {
    const tv = await tvCalled('Pages');
    for (let batch = 0; batch < 5; batch++)
      await report(tv, ...Array.from({ length: 100 }, (_, n) => beat(batch * 100 + n)));
    const first = (await cli(['event', 'list', '--screen', 'Pages', '-o', 'json'])).json.at(-1);
    const { ndjson } = await cli(
      `event list --screen ${tv.screenId} --after ${first.id} -o ndjson`,
    );
    expect(numbers(ndjson)).toEqual(Array.from({ length: 499 }, (_, n) => n + 1));
    const limited = await cli(
      `event list --screen ${tv.screenId} --follow --since 1h --limit 450 -o json`,
    );
    expect([limited.code, numbers(limited.json)]).toEqual([
      0,
      Array.from({ length: 450 }, (_, n) => n),
    ]);
  });
});

describe('signage event list --follow', () => {
  it('prints each new event once; 130 at Ctrl-C', async () => {
    const tv = await tvCalled('Follow');
    await report(tv, beat(0));
    const run = await cli(
      [
        'event',
        'list',
        '--follow',
        '--screen',
        'Follow',
        '--type',
        'heartbeat',
        '--since',
        '1h',
        '-o',
        'ndjson',
      ],
      {
        async during(io) {
          await io.until(/"n":0/);
          await report(tv, beat(1), { type: 'log', timestamp: 1 });
          await io.until(/"n":1/);
          await report(tv, beat(2));
          await report(tv, beat(3));
          await io.until(/"n":3/);
          io.signal('SIGINT');
        },
      },
    );
    expect([run.code, run.stderr]).toEqual([130, '']);
    expect(numbers(run.ndjson)).toEqual([0, 1, 2, 3]);
  });

  it('ends after --limit events', async () => {
    const tv = await tvCalled('Limit');
    await report(tv, beat(0));
    const asked = service.manage('GET', '/v1/events?limit=1');
    const running = cli('event list --follow --screen Limit --limit 2 -o json');
    await asked;
    for (let n = 1; n < 40; n++) {
      await report(tv, beat(n));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const { code, json: events } = await running;
    expect([code, events.length]).toEqual([0, 2]);
    expect(events[0].event.n).toBeGreaterThan(0);
    expect(events[1].event.n).toBe(events[0].event.n + 1);
  });

  it('ends quietly when stdout closes', async () => {
    const tv = await tvCalled('Closed');
    await report(tv, beat(0));
    const gone = new AbortController();
    const io = fakeIo({
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, XDG_CONFIG_HOME: '/nowhere' },
    });
    const stdout = { isTTY: false, write: io.stdout.write, gone: gone.signal };
    const running = main(
      ['event', 'list', '-F', '--screen', 'Closed', '--since', '1h', '-o', 'ndjson'],
      { ...io, stdout },
    );
    await io.until(/"n":0/);
    gone.abort();
    expect([await running, io.err()]).toEqual([0, '']);
  });

  it('prints how to continue when the service becomes unreachable', async () => {
    const id = randomUUID();
    const one = {
      id,
      deviceId: id,
      screenId: id,
      receivedAt: '2026-11-20T12:00:00.000Z',
      event: beat(1),
    };
    const stub = await stubService(
      json(200, { items: [one], nextCursor: null }),
      problem(500, 'internal_error', 'Broken.'),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
    const run = await runCli(['event', 'list', '--follow', '--since', '1h', '-o', 'ndjson'], {
      env,
    });
    expect([run.code, run.ndjson]).toEqual([1, [one]]);
    await stub.close();
    const after = await runCli(['event', 'list', '--follow', '--after', id, '-o', 'ndjson'], {
      env,
    });
    expect(after.code).toBe(7);
    expect(JSON.parse(after.stderr).hint).toContain(`--after ${id}`);
  });

  it('7 for a service that repeats the same page forever', async () => {
    const id = randomUUID();
    const one = {
      id,
      deviceId: id,
      screenId: id,
      receivedAt: '2026-11-20T12:00:00.000Z',
      event: beat(1),
    };
    const stub = await stubService(json(200, { items: [one], nextCursor: null }));
    const run = await runCli(['event', 'list', '--follow', '--since', '1h', '-o', 'ndjson'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
    });
    expect([run.code, stub.heard.length]).toEqual([7, 2]);
  });

  it('does not busy-poll a service without long polls', async () => {
    const stub = await stubService(json(200, { items: [], nextCursor: null }));
    const run = await runCli(['event', 'list', '--follow', '-o', 'ndjson'], {
      env: { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' },
      async during(io) {
        await new Promise((resolve) => setTimeout(resolve, 400));
        io.signal('SIGTERM');
      },
    });
    expect(run.code).toBe(143);
    expect(stub.heard.length).toBeLessThanOrEqual(3);
  });
});
