// signage apply while somebody else changes the same records.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { gate } from '../../../src/testing/store-suite/store-test.ts';
import { startProxy } from '../../support/network/intervening-proxy.ts';
import { item } from '../../support/service/management.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { cliOf, startCli } from '../run-cli.ts';

let service: TestService<Clock>;
let venue: { id: string; name: string };
let screen: { id: string };
beforeEach(async () => {
  ({ service } = await startCli());
  venue = await service.venue({ name: 'Lobby', labels: { floor: '1' } });
  screen = await service.screen({ venueId: venue.id, name: 'Main' });
});

const get = async (path: string) => (await service.manage('GET', path)).body;

/** Runs `apply`, and makes a change once, just before the request that matches `at` arrives. */
async function applyWith(
  site: object,
  at: RegExp,
  change: () => Promise<unknown>,
  ...more: string[]
) {
  let isDone = false;
  const proxy = await startProxy(service.url, {
    async before(line) {
      if (isDone || !at.test(line)) return;
      isDone = true;
      await change();
    },
  });
  const cli = cliOf(proxy, adminToken);
  const run = await cli(['apply', '-f', '-', '-o', 'json', ...more], {
    stdin: JSON.stringify({ version: 1, ...site }),
  });
  expect(isDone).toBe(true);
  return run;
}

describe('signage apply, when a record changes between read and write', () => {
  it('reads a venue again, and removes the label that was added', async () => {
    const run = await applyWith(
      { venues: [{ name: 'Lobby', labels: { floor: '2' } }] },
      /^PATCH/,
      () => service.manage('PATCH', `/v1/venues/${venue.id}`, { labels: { added: 'yes' } }),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.json).toMatchObject([
      { result: 'updated', changed: ['labels.floor', 'labels.added'] },
    ]);
    expect((await get(`/v1/venues/${venue.id}`)).labels).toEqual({ floor: '2' });
  });

  it('keeps a concurrent change to a member that the file does not name', async () => {
    await applyWith({ venues: [{ name: 'Lobby', labels: { floor: '2' } }] }, /^PATCH/, () =>
      service.manage('PATCH', `/v1/venues/${venue.id}`, { address: 'Here 1' }),
    );
    expect(await get(`/v1/venues/${venue.id}`)).toMatchObject({
      labels: { floor: '2' },
      address: 'Here 1',
    });
  });

  it('changes nothing when the other change already matches the file', async () => {
    const wanted = { heartbeatIntervalMinutes: 3 };
    const path = `/v1/screens/${screen.id}/config`;
    const changes = async () => (await get('/v1/audit?limit=200')).items.length;
    const before = await changes();
    const run = await applyWith(
      { venues: [{ name: 'Lobby', screens: [{ name: 'Main', config: wanted }] }] },
      /^PUT .*config/,
      () => service.manage('PUT', path, wanted),
    );
    expect(run.code, run.stderr).toBe(0);
    expect(await get(path)).toEqual(wanted);
    expect(await changes()).toBe(before + 1);
  });

  it('the file wins over a config and a playlist that were just set', async () => {
    const wanted = {
      config: { syncIntervalMinutes: 9 },
      playlist: { items: [item({ duration: 5 })] },
    };
    const site = { venues: [{ name: 'Lobby', screens: [{ name: 'Main', ...wanted }] }] };
    const path = `/v1/screens/${screen.id}`;
    const run = await applyWith(site, /^PUT .*config/, async () => {
      await service.manage('PUT', `${path}/config`, { other: true });
      await service.manage('PUT', `${path}/playlist`, { items: [item()] });
    });
    expect(run.code, run.stderr).toBe(0);
    expect(run.json.at(-1).changed).toContain('config.other');
    expect(await get(`${path}/config`)).toEqual(wanted.config);
    expect((await get(`${path}/playlist`)).items).toEqual(wanted.playlist.items);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGHUP', 143],
    ['SIGTERM', 143],
  ] as const)(
    'at %s, counts screens whose playlist is not published yet as changed in part',
    async (signal, exitCode) => {
      const second = gate();
      const end = gate();
      let publications = 0;
      const proxy = await startProxy(service.url, {
        async before(line) {
          if (!line.startsWith('POST /v1/publications') || ++publications < 2) return;
          second.open();
          await end.opened;
        },
      });
      const screens = [1, 2, 3, 4].map((n) => ({
        name: `S${n}`,
        playlist: { items: [item({ duration: 1 + (n % 2) })] },
      }));
      const { code, stderr } = await cliOf(proxy, adminToken)(['apply', '-f', '-'], {
        stdin: JSON.stringify({ version: 1, venues: [{ name: 'New', screens }] }),
        during: async (io) => {
          await second.opened;
          io.signal(signal);
        },
      });
      end.open();
      expect(code).toBe(exitCode);
      expect(stderr).toContain('Interrupted after 3 of 5 records.');
      expect(stderr).toContain('2 more records changed in part.');
    },
  );

  it('continues when the answer to a change was lost', async () => {
    const lost = new Set<string>();
    const proxy = await startProxy(service.url, {
      loses(line) {
        const isFirst = /^(PATCH|PUT)/.test(line) && !lost.has(line);
        if (isFirst) lost.add(line);
        return isFirst;
      },
    });
    const site = {
      version: 1,
      venues: [{ name: 'Lobby', labels: {}, screens: [{ name: 'Main', config: { volume: 3 } }] }],
    };
    const run = await cliOf(proxy, adminToken)(['apply', '-f', '-', '-o', 'json'], {
      stdin: JSON.stringify(site),
    });
    expect(run.code, run.stderr).toBe(0);
    expect(lost.size).toBe(2);
    expect(run.json.map(({ result }: { result: string }) => result)).toEqual([
      'updated',
      'updated',
    ]);
    expect((await get(`/v1/venues/${venue.id}`)).labels).toEqual({});
    expect(await get(`/v1/screens/${screen.id}/config`)).toEqual({ volume: 3 });
  });

  it('9, and deletes no screen that was renamed since the plan', async () => {
    const spare = await service.screen({ venueId: venue.id, name: 'Spare' });
    const rename = () =>
      service.manage('PATCH', `/v1/screens/${spare.id}`, { name: `Kept ${crypto.randomUUID()}` });
    const site = { venues: [{ name: 'Lobby', screens: [{ name: 'Main' }] }] };
    for (const at of [/^GET \/v1\/screens\/[^?/]+$/, /^DELETE/]) {
      const run = await applyWith(site, at, rename, '--prune', '--yes');
      expect(run.code, run.stderr).toBe(9);
      expect(run.json.at(-1)).toMatchObject({ result: 'failed', kind: 'screen' });
      expect(run.json.at(-1).error).toMatch(/changed/);
      expect((await service.manage('GET', `/v1/screens/${spare.id}`)).status).toBe(200);
    }
  });
});
