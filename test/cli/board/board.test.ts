// The server of `signage board`, over HTTP. test/e2e/web/board.test.ts has its page in a browser.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, problem, stubService } from '../../support/network/stub-service.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { rawRequest } from '../../support/service/raw-request.ts';
import { adminToken } from '../../support/service/service.ts';
import { startCli } from '../run-cli.ts';
import { openBoard } from './open-board.ts';
import { statusPage } from './status-records.ts';

const answer = (options: Parameters<typeof statusPage>[0]) => json(200, statusPage(options));
const everyMs = 5000;

/** Lets time pass until the answer is there, however long the requests behind it take. */
async function whilePassing<T>(clock: ManualClock, answer: Promise<T>): Promise<T> {
  let isOver = false;
  const over = answer.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    clock.advance(100);
    await sleep(2);
  }
  return over;
}

describe('signage board', () => {
  it('answers only at its own address, to its own page, and only to GET', async () => {
    const { url } = await openBoard(await stubService(answer({ count: 1 })));
    const { host, pathname, port } = new URL(url);
    const statusOf = async (line: string, headers: Record<string, string>) => {
      const lines = Object.entries({ Connection: 'close', ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const text = await rawRequest(url, `${line} HTTP/1.1\r\n${lines.join('')}\r\n`);
      expect(text).not.toContain('Access-Control');
      return Number(text.split(' ')[1]);
    };
    const own = { Host: host };
    const state = `GET ${pathname}state`;
    expect(await statusOf(state, own)).toBe(200);
    expect(await statusOf(state, { ...own, Origin: `http://${host}` })).toBe(200);
    expect(await statusOf(state, { Host: `localhost:${port}` })).toBe(200);
    expect(await statusOf(state, { Host: `evil.example:${port}` })).toBe(403);
    expect(await statusOf(state, { Host: `127.0.0.1.evil.example:${port}` })).toBe(403);
    expect(await statusOf(state, { ...own, Origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf(state, { ...own, Origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await statusOf(state, { ...own, Origin: 'null' })).toBe(403);
    expect(await statusOf(`POST ${pathname}state`, own)).toBe(405);
    for (const path of ['/', '/state', `/${'0'.repeat(32)}/`, `${pathname}../x`, '/open/undefined'])
      expect(await statusOf(`GET ${path}`, own), path).toBe(404);
  });

  it('asks the service once every 5 seconds for 50 viewers, and never sends them the token', async () => {
    const clock = new ManualClock();
    const service = await stubService(answer({ count: 2 }));
    const board = await openBoard(service, { clock });
    const files = ['', 'board.js', 'board.css'].map((name) => fetch(board.url + name));
    const texts = (await Promise.all(files)).map((file) => file.text());
    const first = await board.state();
    const viewers = Array.from({ length: 50 }, () => board.state(first.revision));
    // One timer for each hold.
    await expect.poll(() => clock.waitingFor(25_000)).toBe(50);
    service.answers = [answer({ count: 2, notPlaying: 1 })];
    clock.advance(everyMs);
    for (const state of await Promise.all(viewers)) {
      expect(state.revision).toBeGreaterThan(first.revision);
      expect(state.tiles[0]).toMatchObject({ condition: 'failing', tone: 'bad' });
    }
    expect(service.heard).toHaveLength(2);
    expect(service.heard[0]?.headers.authorization).toContain(adminToken);
    const served = [...(await Promise.all(texts)), JSON.stringify(await board.state())];
    expect(served.filter((text) => text.includes(adminToken) || text.includes('mak_'))).toEqual([]);
  });

  it('forgets viewers who leave, so that they take no place', async () => {
    const clock = new ManualClock();
    const board = await openBoard(await stubService(answer({ count: 1 })), { clock });
    const { revision } = await board.state();
    const leaving = new AbortController();
    const { signal } = leaving;
    const viewers = Array.from({ length: 200 }, () =>
      fetch(`${board.url}state?after=${revision}`, { signal }),
    );
    await expect.poll(() => clock.waitingFor(25_000)).toBe(200);
    leaving.abort();
    await Promise.allSettled(viewers);
    await expect.poll(() => clock.waitingFor(25_000)).toBe(0);
    expect((await board.state()).revision).toBe(revision);
  });

  it('ends an hour after its last viewer, with 0, and says so', async () => {
    const clock = new ManualClock();
    const board = await openBoard(await stubService(answer({ count: 1 })), { clock });
    const { revision } = await board.state();
    const held = board.state(revision);
    await expect.poll(() => clock.waitingFor(25_000)).toBe(1);
    clock.set(clock.now() + hourMs);
    clock.advance(everyMs);
    await held;
    await expect.poll(() => clock.waitingFor(everyMs)).toBe(1);
    clock.set(clock.now() + hourMs);
    clock.advance(everyMs);
    expect(await board.ended).toBe(0);
    expect(board.io.err()).toContain('nobody has looked at it for an hour');
  });

  it('goes on while the service is away, and says since when its data are old', async () => {
    const clock = new ManualClock();
    const service = await stubService(answer({ count: 1 }));
    const board = await openBoard(service, { clock });
    const first = await board.state();
    expect(first).toMatchObject({ problem: null, ageMs: 0 });
    service.answers = [problem(503, 'unavailable', 'The store does not answer.')];
    const old = await whilePassing(clock, board.state(first.revision));
    expect(old).toMatchObject({ problem: 'The store does not answer.', tiles: first.tiles });
    expect(old.ageMs).toBeGreaterThanOrEqual(everyMs);
    service.answers = [answer({ count: 1 })];
    const next = await whilePassing(clock, board.state(old.revision));
    expect(next).toMatchObject({ problem: null, tiles: first.tiles });
    expect(board.io.err()).toContain('The store does not answer. The page shows old data.');
    expect(board.io.err()).toContain('The service answers again.');
  });

  it('ends with 4 when the token is revoked, and tells its viewers why', async () => {
    const clock = new ManualClock();
    const service = await stubService(answer({ count: 1 }));
    const board = await openBoard(service, { clock });
    const { revision } = await board.state();
    const held = fetch(`${board.url}state?after=${revision}`);
    await expect.poll(() => clock.waitingFor(25_000)).toBe(1);
    service.answers = [problem(401, 'credential_invalid', 'The token is not valid.')];
    clock.advance(everyMs);
    const farewell = await held;
    expect(farewell.status).toBe(410);
    expect(await farewell.text()).toMatch(/^The board has ended: The token is not valid\. /);
    expect(await board.ended).toBe(4);
    expect(board.io.err()).toContain('The token is not valid.');
  });

  it('tells a viewer that has just got an answer why it ends', async () => {
    const board = await openBoard(await stubService(answer({ count: 1 })));
    const { revision } = await board.state();
    const interrupted = board.interrupt();
    await setImmediate();
    const farewell = await fetch(`${board.url}state?after=${revision}`);
    expect(farewell.status).toBe(410);
    expect(await farewell.text()).toMatch(/^The board has ended\. /);
    await interrupted;
    expect(await board.ended).toBe(130);
  });

  it('ends with 7 if the service is away at the start, with 3 if no screen matches, with 5 if the port is taken', async () => {
    const { sitDown } = await import('../terminal/sit-down.ts');
    const service = await stubService(answer({ count: 0 }));
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
    const codeOf = async (args: readonly string[], more = {}) =>
      (await sitDown(['board', ...args], { env: { ...env, ...more } })).ended;
    expect(await codeOf(['--selector', 'a=b'])).toBe(3);
    expect(await codeOf(['--port', new URL(service.url).port])).toBe(5);
    expect(await codeOf([], { SIGNAGE_URL: 'http://127.0.0.1:1' })).toBe(7);
  });

  it('gives commands that can be pasted, whatever the names, for the same service', async () => {
    const names = ["it's; rm -rf ~", 'Main', 'a\u001b[2J', '<img src=x onerror=alert(1)>'];
    const service = await stubService(
      answer({ count: 4, notPlaying: 4, name: (number) => names[number] ?? '' }),
    );
    const board = await openBoard(service, { args: ['--url', service.url] });
    const { tiles } = await board.state();
    const commands = Object.fromEntries(tiles.map(({ screen, command }) => [screen, command]));
    const url = ` --url ${service.url}`;
    expect(commands).toEqual({
      [names[0]!]: `signage doctor 'Venue 1/it'\\''s; rm -rf ~'${url}`,
      [names[1]!]: `signage doctor 'Venue 1/Main'${url}`,
      [names[2]!]: `signage pair 00000001-0000-4000-8000-000000000002${url}`,
      [names[3]!]: `signage doctor 'Venue 1/<img src=x onerror=alert(1)>'${url}`,
    });
  });

  it('goes on with its tenant when a second one appears', async () => {
    const { service, cli } = await startCli();
    await cli('venue create --name Lobby');
    await cli('screen create Lobby/Main');
    const clock = new ManualClock();
    const board = await openBoard(service, { clock });
    const first = await board.state();
    expect((await cli('tenant create --name Other')).code).toBe(0);
    expect((await cli('status')).stderr).toContain('--tenant');
    const lobby = (await cli('venue list -o json --tenant default')).json[0].tenantId;
    await cli(`screen create Lobby/Second --tenant ${lobby}`);
    const { tiles, problem: why } = await whilePassing(clock, board.state(first.revision));
    expect([tiles.map(({ screen }) => screen), why]).toEqual([['Main', 'Second'], null]);
  });

  it.skipIf(process.platform !== 'linux')(
    'opens the browser with an address that works once',
    async () => {
      const folder = await temporaryFolder();
      const [program, given] = [join(folder, 'xdg-open'), join(folder, 'given')];
      await writeFile(
        program,
        `#!/bin/sh\nprintf %s "$1" > ${given}.part\n/bin/mv ${given}.part ${given}\n`,
      );
      await chmod(program, 0o700);
      const service = await stubService(answer({ count: 1 }));
      const board = await openBoard(service, { args: ['--open'], env: { PATH: folder } });
      await expect.poll(() => readFile(given, 'utf8').catch(() => '')).toContain('http');
      const once = await readFile(given, 'utf8');
      const secret = new URL(board.url).pathname;
      expect(once).not.toContain(secret);
      const first = await fetch(once, { redirect: 'manual' });
      expect([first.status, first.headers.get('location')]).toEqual([303, secret]);
      expect((await fetch(once, { redirect: 'manual' })).status).toBe(404);
    },
  );
});
