import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../src/cli/pair/pair-many.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { item } from '../../support/content.ts';
import type { FakeIo } from '../../support/fake-io.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { terminalScreen } from '../../support/terminal-screen.ts';
import { type Cli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

async function venueWith(names: readonly string[]) {
  const venue = await service.venue();
  const screens = [];
  for (const name of names) {
    const screen = await service.screen({ venueId: venue.id, name });
    await service.manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item()] });
    screens.push(screen);
  }
  return { venue, screens };
}

async function playOn(code: string): Promise<void> {
  const anyone = new RuntimeClient({ url: service.url });
  const { screenId, apiKey } = await anyone.register({
    pairingCode: code,
    deviceInfo: { model: 'QM55B' },
  });
  const tv = anyone.withKey(apiKey);
  await tv.fetchPlaylist(screenId);
  await tv.postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]);
}

const stepsOf = (io: FakeIo) =>
  io
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Waits for the codes of all screens. */
async function codesOf(io: FakeIo, count: number): Promise<string[]> {
  await io.until(new RegExp(`(?:"step":"code"[\\s\\S]*){${count}}`));
  return stepsOf(io).map(({ code }) => code);
}

const codeOn = async (screenId: string) =>
  (await service.manage('GET', `/v1/screens/${screenId}`)).body.provisioningCode?.status;

describe('signage pair --venue X --all', () => {
  it('pairs every screen without a TV, and skips the others', async () => {
    const { venue, screens } = await venueWith(['A', 'B', 'C']);
    const bound = await service.tv((await service.screen({ venueId: venue.id, name: 'Bound' })).id);
    const { code, ndjson } = await cli(['pair', '--venue', venue.name, '--all', '-o', 'ndjson'], {
      during: async (io) => Promise.all((await codesOf(io, 3)).map(playOn)),
    });
    expect(code).toBe(0);
    for (const { id } of screens) {
      const steps = ndjson.filter(({ screenId }) => screenId === id).map(({ step }) => step);
      expect(steps).toEqual(['code', 'registered', 'playlist', 'event', 'paired']);
    }
    expect(ndjson.some(({ screen }) => screen === 'Bound')).toBe(false);
    expect((await bound.send('GET', 'config')).status).toBe(200);
  });

  it('--selector takes only the screens with these labels', async () => {
    const venue = await service.venue();
    await service.screen({ venueId: venue.id, name: 'Up', labels: { floor: '2' } });
    await service.screen({ venueId: venue.id, name: 'Down', labels: { floor: '1' } });
    const argv = ['pair', '--venue', venue.name, '--all', '--dry-run', '-o', 'ndjson'];
    const { code, ndjson } = await cli([...argv, '--selector', 'floor=2']);
    expect({ code, requests: ndjson.length }).toEqual({ code: 0, requests: 1 });
    const none = await cli([...argv, '--selector', 'floor=3']);
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain(`no screen of "${venue.name}" that matches --selector`);
    const one = await cli(['pair', `${venue.name}/Up`, '--selector', 'floor=2']);
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('give --all, too') });
  });

  it('does nothing when no screen is waiting for a TV', async () => {
    const venue = await service.venue();
    const { code, stdout, stderr } = await cli([
      'pair',
      '--venue',
      venue.name,
      '--all',
      '-o',
      'ndjson',
    ]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `Nothing to pair: no screen of "${venue.name}" is waiting for a TV.\n`,
    });
    expect((await cli(['pair', '--venue', venue.name, '--all', '-o', 'json'])).json).toEqual([]);
  });

  it('8 after the timeout: cancels unused codes, keeps finished pairings', async () => {
    const { venue, screens } = await venueWith(['A', 'B']);
    const { code, ndjson, stderr } = await cli(
      ['pair', '--venue', venue.name, '--all', '--timeout', '4s', '-o', 'ndjson'],
      {
        during: async (io) => playOn((await codesOf(io, 2))[0] ?? ''),
      },
    );
    expect(code).toBe(8);
    const [paired] = ndjson;
    expect(ndjson.filter(({ screenId }) => screenId === paired.screenId).at(-1).step).toBe(
      'paired',
    );
    const left = screens.find(({ id }) => id !== paired.screenId);
    expect(ndjson.at(-1)).toMatchObject({
      step: 'failed',
      screenId: left.id,
      error: expect.stringContaining('Timed out'),
    });
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      code: 'wait_timed_out',
    });
    expect(await codeOn(left.id)).toBe('cancelled');
  });

  it('9 when one screen fails, while the others continue', async () => {
    const { venue } = await venueWith(['A', 'B']);
    const { code, ndjson } = await cli(['pair', '--venue', venue.name, '--all', '-o', 'ndjson'], {
      async during(io) {
        const [first = '', second = ''] = await codesOf(io, 2);
        await service.manage('DELETE', `/v1/devices/provisioning-codes/${first}`);
        await io.until(/"step":"failed"/);
        await playOn(second);
      },
    });
    expect(code).toBe(9);
    expect(ndjson.map(({ step }) => step)).toEqual([
      'code',
      'code',
      'failed',
      'registered',
      'playlist',
      'event',
      'paired',
    ]);
  });

  it('9 when a TV registers with another code of a screen', async () => {
    const { venue, screens } = await venueWith(['A', 'B']);
    const other = await service.code(screens[0].id);
    const { code, ndjson, stderr } = await cli(
      ['pair', '--venue', venue.name, '--all', '-o', 'ndjson'],
      {
        async during(io) {
          await codesOf(io, 2);
          const own = stepsOf(io).find(({ screenId }) => screenId === screens[1].id);
          await playOn(other.code);
          await io.until(/"step":"failed"/);
          await playOn(own.code);
        },
      },
    );
    expect(code).toBe(9);
    expect(stderr).toContain('Another pairing code is pending: for "A"');
    const stepOf = (id: string) => ndjson.filter(({ screenId }) => screenId === id).at(-1);
    expect(stepOf(screens[1].id).step).toBe('paired');
    expect(stepOf(screens[0].id)).toMatchObject({
      step: 'failed',
      error: expect.stringContaining('was paired with an earlier code'),
    });
  });

  it('Ctrl-C leaves no code, and reports what remains', async () => {
    const { venue, screens } = await venueWith(['A', 'B', 'C']);
    const { code, stderr } = await cli(['pair', '--venue', venue.name, '--all', '-o', 'ndjson'], {
      during: async (io) => codesOf(io, 3).then(() => io.signal('SIGINT')),
    });
    expect(code).toBe(130);
    for (const { id } of screens) expect(await codeOn(id)).toBe('cancelled');
    expect(stderr).toContain('0 of 3 screens are paired.');
    expect(stderr).toContain(
      `The unused codes of 3 screens were cancelled. To continue: signage pair --venue '${venue.name}' --all`,
    );
  });

  it('a fatal error stops all pairings and cancels their codes', async () => {
    const { venue, screens } = await venueWith(['A', 'B']);
    const { body } = await service.manage('POST', '/v1/tokens', {
      name: 'Short-lived',
      role: 'installer',
    });
    const { code } = await cli(['pair', '--venue', venue.name, '--all', '-o', 'ndjson'], {
      env: { SIGNAGE_TOKEN: body.token },
      async during(io) {
        const [first = ''] = await codesOf(io, 2);
        await service.manage('DELETE', `/v1/tokens/${body.id}`);
        await playOn(first);
      },
    });
    expect(code).toBe(4);
    expect(screens).toHaveLength(2);
  });

  it('--dry-run shows a request for each screen, and sends none', async () => {
    const { venue, screens } = await venueWith(['A', 'B']);
    const { code, ndjson } = await cli([
      'pair',
      '--venue',
      venue.name,
      '--all',
      '--dry-run',
      '-o',
      'ndjson',
    ]);
    expect({ code, paths: ndjson.map(({ body }) => body.screenId).toSorted() }).toEqual({
      code: 0,
      paths: screens.map(({ id }) => id).toSorted(),
    });
    expect(await codeOn(screens[0].id)).toBeUndefined();
  });

  it('--codes-file holds the unused codes, for their owner alone, until the end', async () => {
    const { venue } = await venueWith(['=A', 'B']);
    const file = join(await temporaryFolder(), 'codes.csv');
    const rows = async () => (await readFile(file, 'utf8')).split('\r\n').slice(0, -1);
    const argv = ['pair', '--venue', venue.name, '--all', '-o', 'ndjson', '--codes-file', file];
    const { code } = await cli(argv, {
      async during(io) {
        const codes = await codesOf(io, 2);
        const [header, ...written] = await rows();
        expect(header).toBe('venue,screen,code,expiresAt');
        expect(written.map((row) => row.split(',')[2]).toSorted()).toEqual(codes.toSorted());
        expect(written.join()).toContain(",'=A,");
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await playOn(codes[0] ?? '');
        await io.until(/"step":"registered"/);
        expect((await rows()).slice(1)).toEqual([expect.stringContaining(codes[1] ?? '?')]);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('2 when the file of --codes-file exists or cannot be created, and creates no code', async () => {
    const { venue, screens } = await venueWith(['A']);
    const folder = await temporaryFolder();
    const there = join(folder, 'codes.csv');
    await writeFile(there, 'mine');
    for (const [file, named] of [
      [there, there],
      [join(folder, 'none', 'codes.csv'), `No such folder: ${join(folder, 'none')} (--codes-file)`],
    ] as const) {
      const argv = ['pair', '--venue', venue.name, '--all', '--codes-file', file];
      const { code, stderr } = await cli(argv);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(named) });
    }
    expect(await readFile(there, 'utf8')).toBe('mine');
    expect(await codeOn(screens[0].id)).toBeUndefined();
  });

  it('draws a live list at a terminal, then a table', async () => {
    const { venue } = await venueWith(['Left', 'Right']);
    let live: string[] = [];
    const { code, stdout, stderr } = await cli(['pair', '--venue', venue.name, '--all'], {
      tty: true,
      async during(io) {
        await io.until(
          /Left +[A-Z2-9]{4} [A-Z2-9]{4}[\s\S]*Right +[A-Z2-9]{4} [A-Z2-9]{4} +15:00 +waiting/,
        );
        live = terminalScreen(io.err());
        const codes = live.join('\n').match(/[A-Z2-9]{4} [A-Z2-9]{4}/g) ?? [];
        await playOn((codes[0] ?? '').replace(' ', ''));
        await io.until(/1 of 2 paired/);
        await playOn((codes[1] ?? '').replace(' ', ''));
      },
    });
    expect(code).toBe(0);
    expect(live[0]).toBe(`${venue.name}: 0 of 2 paired`);
    expect(terminalScreen(stderr).slice(0, 3).join('\n')).toMatch(
      /: 2 of 2 paired\nLeft +paired ✓ QM55B\nRight +paired ✓ QM55B/,
    );
    expect(stdout).toMatch(/SCREEN +DEVICE +MODEL +VERSION/);
    expect(stdout.match(/QM55B/g)).toHaveLength(2);
  });

  it('shows one code in large letters, another one by the arrow keys, fewer by typing', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `Wall ${at + 1}`);
    const { venue } = await venueWith(names);
    const seen = (io: FakeIo) => terminalScreen(io.err());
    const typed = (name: string) => new RegExp(`Type this code on the TV of "${name}"`);
    const { code } = await cli(['pair', '--venue', venue.name, '--all'], {
      tty: true,
      async during(io) {
        await io.until(typed('Wall 1'));
        // The end of the list is reached when all codes have been created.
        const atEnd = () => {
          io.type('\u001b[F');
          return seen(io).join('\n');
        };
        await expect.poll(atEnd).toMatch(typed('Wall 30'));
        expect(seen(io).join('\n')).toContain('16–30 of 30 · type to filter');
        io.type('\u001b[H');
        await expect.poll(() => seen(io).join('\n')).toMatch(typed('Wall 1'));
        expect(seen(io).length).toBeLessThanOrEqual(24);
        expect(seen(io).filter((row) => /^[█▀▄ ]+$/.test(row))).toHaveLength(4);
        expect(seen(io).find((row) => row.startsWith('›'))).toMatch(/^› Wall 1 /);
        io.type('\u001b[B');
        await io.until(typed('Wall 2'));
        io.type('\u001b[6~');
        await io.until(typed('Wall 12'));
        io.type('l 7');
        await io.until(/1 listed · filter: l 7 · Esc shows all/);
        expect(seen(io).filter((row) => row.includes('Wall'))).toHaveLength(2);
        io.type('\u007f');
        await io.until(/filter: l · Esc/);
        io.type('\u0003');
      },
    });
    expect(code).toBe(130);
  });

  it('leaves out the large letters in a low terminal, and wraps what is missing', async () => {
    const venue = await service.venue();
    const screen = await service.screen({ venueId: venue.id, name: 'Bare' });
    await service.screen({ venueId: venue.id, name: 'Other' });
    let seen: string[] = [];
    await cli(['pair', '--venue', venue.name, '--all'], {
      tty: true,
      columns: 60,
      around: (io) => {
        const terminal = io.terminal();
        Object.assign(terminal.output, { columns: 60, rows: 10 });
        return { ...io, terminal: () => terminal };
      },
      async during(io) {
        const [code = ''] = [await io.until(/Bare +[A-Z2-9]{4} [A-Z2-9]{4}/)];
        const pairingCode = code.slice(-9).replace(' ', '');
        const anyone = new RuntimeClient({ url: service.url });
        const { apiKey } = await anyone.register({ pairingCode, deviceInfo: {} });
        await anyone
          .withKey(apiKey)
          .fetchPlaylist(screen.id)
          .catch(() => {});
        await io.until(/no playlist yet/);
        seen = terminalScreen(io.err(), 60);
        io.signal('SIGINT');
      },
    });
    expect(seen.join('\n')).not.toMatch(/[█▀▄]{3}/);
    expect(seen.join(' ')).toMatch(
      /Bare: The screen has no playlist yet\. Publish one: +signage playlist/,
    );
    expect(Math.max(...seen.map((row) => row.length))).toBeLessThan(60);
  });
});

describe('merge', () => {
  async function* counting(name: string, count: number, ended: string[]) {
    try {
      for (let at = 1; at <= count; at++) yield `${name}${at}`;
    } finally {
      ended.push(name);
    }
  }

  it('yields all values, with limited concurrency', async () => {
    const ended: string[] = [];
    const seen: string[] = [];
    for await (const one of merge(
      [counting('a', 2, ended), counting('b', 1, ended), counting('c', 2, ended)],
      2,
      () => {},
    ))
      seen.push(one);
    expect(seen.toSorted()).toEqual(['a1', 'a2', 'b1', 'c1', 'c2']);
    expect(seen.indexOf('c1')).toBeGreaterThan(seen.indexOf('b1'));
  });

  it('ends all generators when the consumer stops', async () => {
    const ended: string[] = [];
    let stopped = false;
    const stop = () => {
      stopped = true;
    };
    for await (const _ of merge([counting('a', 5, ended), counting('b', 5, ended)], 5, stop)) break;
    expect({ stopped, ended: ended.toSorted() }).toEqual({ stopped: true, ended: ['a', 'b'] });
  });
});
