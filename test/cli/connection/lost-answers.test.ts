// Changes of several screens, when a connection breaks after the service made the change.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freePort } from '../../support/network/free-port.ts';
import { startProxy } from '../../support/network/intervening-proxy.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { type CliOptions, cliOf, runCli, startCli } from '../run-cli.ts';

let service: TestService<Clock>;
let folder: string;
let count = 0;
beforeAll(async () => {
  ({ service } = await startCli());
  folder = await temporaryFolder();
});

const former = item({ creativeUrl: 'https://media.example.com/former.mp4' });
const present = item({ creativeUrl: 'https://media.example.com/present.mp4' });

/** Creates two screens with two versions of a playlist, and a config. */
async function site() {
  const label = `site=lost${++count}`;
  const { id: venueId } = await service.venue({ name: `Lost ${count}` });
  const ids: string[] = [];
  for (const name of ['S1', 'S2']) {
    const { id } = await service.screen({ venueId, name, labels: { site: `lost${count}` } });
    for (const one of [former, present])
      await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [one] });
    await service.manage('PUT', `/v1/screens/${id}/config`, { a: 1 });
    ids.push(id);
  }
  const state = ['--state', `${folder}/${count}.json`];
  return {
    ids,
    line: (...words: string[]) => [...words, '--selector', label, '-o', 'ndjson'],
    state,
  };
}

/** Runs a command, and loses the answer to the first change of each screen. */
async function runWithLoss(line: string[]) {
  const lost = new Set<string>();
  const proxy = await startProxy(service.url, {
    loses(request) {
      if (request.startsWith('GET') || lost.has(request)) return false;
      lost.add(request);
      return true;
    },
  });
  const run = await cliOf(proxy, adminToken)(line);
  return { run, lost: lost.size };
}

const read = async (ids: string[], what: string) =>
  Promise.all(
    ids.map(async (id) => (await service.manage('GET', `/v1/screens/${id}/${what}`)).body),
  );

describe('a change of several screens whose answers are lost', () => {
  it('config set stores the settings of all screens', async () => {
    const { ids, line } = await site();
    const { run, lost } = await runWithLoss(line('config', 'set', 'b=2'));
    expect(run.code, run.stderr).toBe(0);
    expect(run.ndjson).toMatchObject([{ result: 'changed' }, { result: 'changed' }]);
    expect([lost, await read(ids, 'config')]).toEqual([
      2,
      [
        { a: 1, b: 2 },
        { a: 1, b: 2 },
      ],
    ]);
  });

  it('config unset removes the last setting of all screens', async () => {
    const { ids, line } = await site();
    const { run, lost } = await runWithLoss(line('config', 'unset', '--key', 'a'));
    expect(run.code, run.stderr).toBe(0);
    expect(run.ndjson).toMatchObject([{ result: 'removed' }, { result: 'removed' }]);
    const codes = (await read(ids, 'config')).map(({ code }) => code);
    expect([lost, codes]).toEqual([2, ['config_not_found', 'config_not_found']]);
  });

  it('playlist rollback publishes once on all screens', async () => {
    const { ids, line, state } = await site();
    const { run, lost } = await runWithLoss(line('playlist', 'rollback', 'previous', ...state));
    expect(run.code, run.stderr).toBe(0);
    expect(run.ndjson).toMatchObject([{ result: 'rolled back' }, { result: 'rolled back' }]);
    expect([lost, await read(ids, 'playlist')]).toMatchObject([
      1,
      [
        { version: 3, items: [former] },
        { version: 3, items: [former] },
      ],
    ]);
  });

  it('playlist publish --staged publishes once on all screens', async () => {
    const { ids, line, state } = await site();
    const file = `${folder}/new.json`;
    await writeFile(file, JSON.stringify([former]));
    const publish = ['playlist', 'publish', '-f', file, '--staged', '100%', '--hold', '0s'];
    const { run, lost } = await runWithLoss(line(...publish, ...state));
    expect(run.code, run.stderr).toBe(0);
    expect(run.ndjson).toMatchObject([{ result: 'published' }, { result: 'published' }]);
    expect([lost, await read(ids, 'playlist')]).toMatchObject([
      1,
      [
        { version: 3, items: [former] },
        { version: 3, items: [former] },
      ],
    ]);
  });

  it('config set still ends with 7 when the service is down', async () => {
    const { line } = await site();
    const proxy = await startProxy(service.url, {
      before(request) {
        if (/(GET|PUT) .*\/config/.test(request)) throw new Error('down');
      },
    });
    const run = await cliOf(proxy, adminToken)(line('config', 'set', 'b=2'));
    expect(run.code).toBe(7);
  }, 30_000);
});

describe('a service that does not listen yet', () => {
  /** Runs a command whose service starts after its first attempt. */
  async function startingLate(line: string, options: CliOptions = {}) {
    const port = await freePort();
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{}');
    });
    const run = await runCli(line, {
      ...options,
      env: { SIGNAGE_URL: `http://127.0.0.1:${port}`, SIGNAGE_TOKEN: 'mak_x', ...options.env },
      during: async (io) => {
        await io.until(/refuses connections|Cannot reach/);
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      },
    });
    server.closeAllConnections();
    server.close();
    return { ...run, requests };
  }

  it.each(['venue list', 'venue create --name Lobby', 'api DELETE /v1/venues/1 --yes'])(
    'gets signage %s when it starts, with a line on stderr',
    async (line) => {
      const { requests, stderr } = await startingLate(`${line} --retry 20s`);
      expect(requests.length).toBeGreaterThan(0);
      expect(stderr.match(/refuses connections\. Trying again \(--retry\)\.\n/g)).toHaveLength(1);
    },
  );

  it('SIGNAGE_RETRY=0: 7 at once', async () => {
    const env = { SIGNAGE_RETRY: '0' };
    const { code, requests } = await startingLate('venue create --name Lobby', { env });
    expect([code, requests]).toEqual([7, []]);
  });
});
