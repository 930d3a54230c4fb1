import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../src/cli/commands/pair/pair-many.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { terminalScreen } from '../../support/process/terminal-screen.ts';
import { item } from '../../support/service/content.ts';
import type { TestService } from '../../support/service/service.ts';
import { type Cli, type CliOptions, startCli } from '../run-cli.ts';
import { playOn, registerTv } from './paired-tv.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

async function venueWith(names: readonly string[]) {
  const { id: venueId, name } = await service.venue();
  const ids: string[] = [];
  for (const one of names) {
    const { id } = await service.screen({ venueId, name: one });
    await service.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
    ids.push(id);
  }
  return { venueId, venue: name as string, ids };
}

const play = (code: string | undefined) => playOn(service.url, (code ?? '').replace('-', ''));

const pairAll = (venue: string, flags: readonly string[] = [], options: CliOptions = {}) =>
  cli(['pair', '--venue', venue, '--all', '-o', 'ndjson', ...flags], options);

const stepsIn = (io: FakeIo) =>
  io
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Waits for the codes of all screens. */
async function codesOf(io: FakeIo, count: number): Promise<string[]> {
  await io.until(new RegExp(`(?:"step":"code"[\\s\\S]*){${count}}`));
  return stepsIn(io).map(({ code }) => code);
}

const codeOn = async (screenId: string | undefined) =>
  (await service.manage('GET', `/v1/screens/${screenId}`)).body.provisioningCode?.status;

describe('signage pair --venue X --all', () => {
  it('pairs every screen without a TV, and skips the others', async () => {
    const { venueId, venue, ids } = await venueWith(['A', 'B', 'C']);
    const bound = await service.tv((await service.screen({ venueId, name: 'Bound' })).id);
    const { code, ndjson } = await pairAll(venue, [], {
      during: async (io) => Promise.all((await codesOf(io, 3)).map(play)),
    });
    expect(code).toBe(0);
    for (const id of ids) {
      const steps = ndjson.filter(({ screenId }) => screenId === id).map(({ step }) => step);
      expect(steps).toEqual(['code', 'registered', 'playlist', 'event', 'paired']);
    }
    expect(ndjson.some(({ screen }) => screen === 'Bound')).toBe(false);
    expect((await bound.send('GET', 'config')).status).toBe(200);
  });

  it('--dry-run shows a request for each screen, or those with the labels, and sends none', async () => {
    const { venueId, venue, ids } = await venueWith(['A', 'B']);
    const { id } = await service.screen({ venueId, name: 'Up', labels: { floor: '2' } });
    const screensOf = async (...flags: string[]) => {
      const { code, ndjson } = await pairAll(venue, ['--dry-run', ...flags]);
      expect(code).toBe(0);
      return ndjson.map(({ body }) => body.screenId).toSorted();
    };
    expect(await screensOf()).toEqual([...ids, id].toSorted());
    expect(await screensOf('--selector', 'floor=2')).toEqual([id]);
    expect(await codeOn(id)).toBeUndefined();
  });

  it('8 after the timeout: cancels unused codes, keeps finished pairings', async () => {
    const { venue, ids } = await venueWith(['A', 'B']);
    const { code, ndjson, stderr } = await pairAll(venue, ['--timeout', '3s'], {
      during: async (io) => play((await codesOf(io, 2))[0]),
    });
    expect(code).toBe(8);
    const [paired] = ndjson;
    const ofPaired = ndjson.filter(({ screenId }) => screenId === paired.screenId);
    expect(ofPaired.at(-1).step).toBe('paired');
    const left = ids.find((id) => id !== paired.screenId);
    const error = expect.stringContaining('Timed out');
    expect(ndjson.at(-1)).toMatchObject({ step: 'failed', screenId: left, error });
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').code).toBe('wait_timed_out');
    expect(await codeOn(left)).toBe('cancelled');
  });

  it('9 when one screen fails, while the others continue', async () => {
    const { venue } = await venueWith(['A', 'B']);
    const { code, ndjson } = await pairAll(venue, [], {
      async during(io) {
        const [first, second] = await codesOf(io, 2);
        await service.manage('DELETE', `/v1/devices/provisioning-codes/${first}`);
        await io.until(/"step":"failed"/);
        await play(second);
      },
    });
    const rest = ['registered', 'playlist', 'event', 'paired'];
    expect(code).toBe(9);
    expect(ndjson.map(({ step }) => step)).toEqual(['code', 'code', 'failed', ...rest]);
  });

  it('9 when a TV registers with another code of a screen', async () => {
    const { venue, ids } = await venueWith(['A', 'B']);
    const other = await service.code(ids[0]);
    const { code, ndjson, stderr } = await pairAll(venue, [], {
      async during(io) {
        await codesOf(io, 2);
        const own = stepsIn(io).find(({ screenId }) => screenId === ids[1]);
        await play(other.code);
        await io.until(/"step":"failed"/);
        await play(own.code);
      },
    });
    expect(code).toBe(9);
    expect(stderr).toContain('Another pairing code is pending: for "A"');
    const lastOf = (id: string | undefined) =>
      ndjson.filter(({ screenId }) => screenId === id).at(-1);
    expect(lastOf(ids[1]).step).toBe('paired');
    const error = expect.stringContaining('was paired with an earlier code');
    expect(lastOf(ids[0])).toMatchObject({ step: 'failed', error });
  });

  it('Ctrl-C leaves no code, and reports what remains', async () => {
    const { venue, ids } = await venueWith(['A', 'B', 'C']);
    const { code, stderr } = await pairAll(venue, [], {
      during: async (io) => codesOf(io, 3).then(() => io.signal('SIGINT')),
    });
    expect(code).toBe(130);
    for (const id of ids) expect(await codeOn(id)).toBe('cancelled');
    expect(stderr).toContain('0 of 3 screens are paired.');
    expect(stderr).toContain(
      `The unused codes of 3 screens were cancelled. To continue: signage pair --venue '${venue}' --all`,
    );
  });

  it('4 for all screens when the token is deleted meanwhile', async () => {
    const { venue } = await venueWith(['A', 'B']);
    const token = { name: 'Short-lived', role: 'installer' };
    const { body } = await service.manage('POST', '/v1/tokens', token);
    const { code } = await pairAll(venue, [], {
      env: { SIGNAGE_TOKEN: body.token },
      async during(io) {
        const [first] = await codesOf(io, 2);
        await service.manage('DELETE', `/v1/tokens/${body.id}`);
        await play(first);
      },
    });
    expect(code).toBe(4);
  });

  it('--codes-file holds the unused codes, for their owner alone, until the end', async () => {
    const { venue } = await venueWith(['=A', 'B']);
    const file = join(await temporaryFolder(), 'codes.csv');
    const rows = async () => (await readFile(file, 'utf8')).split('\r\n').slice(0, -1);
    const { code } = await pairAll(venue, ['--codes-file', file], {
      async during(io) {
        const codes = await codesOf(io, 2);
        const [header, ...written] = await rows();
        expect(header).toBe('venue,screen,code,expiresAt');
        expect(written.map((row) => row.split(',')[2]).toSorted()).toEqual(codes.toSorted());
        expect(written.join()).toContain(",'=A,");
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await play(codes[0]);
        await io.until(/"step":"registered"/);
        expect((await rows()).slice(1)).toEqual([expect.stringContaining(codes[1] ?? '?')]);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});

describe('signage pair --venue X --all at a terminal', () => {
  const atTerminal = (venue: string, options: CliOptions) =>
    cli(['pair', '--venue', venue, '--all'], { tty: true, ...options });
  const shown = (io: FakeIo, columns?: number) => terminalScreen(io.err(), columns);

  it('draws a live list, then a table', async () => {
    const { venue } = await venueWith(['Left', 'Right']);
    let live: string[] = [];
    const { code, stdout, stderr } = await atTerminal(venue, {
      async during(io) {
        await io.until(
          /Left +[A-Z2-9]{4}-[A-Z2-9]{4}[\s\S]*Right +[A-Z2-9]{4}-[A-Z2-9]{4} +15:00 +waiting/,
        );
        live = shown(io);
        const codes = live.join('\n').match(/[A-Z2-9]{4}-[A-Z2-9]{4}/g) ?? [];
        await play(codes[0]);
        await io.until(/1 of 2 paired/);
        await play(codes[1]);
      },
    });
    expect(code).toBe(0);
    expect(live[0]).toBe(`${venue}: 0 of 2 paired`);
    expect(terminalScreen(stderr).slice(0, 3)).toEqual([
      `${venue}: 2 of 2 paired`,
      expect.stringMatching(/^Left +paired ✓ Samsung QM55B/),
      expect.stringMatching(/^Right +paired ✓ Samsung QM55B/),
    ]);
    expect(stdout).toMatch(/SCREEN +DEVICE +MODEL +VERSION/);
    expect(stdout.match(/QM55B/g)).toHaveLength(2);
  });

  it('shows one code in large letters, another one by the arrow keys, fewer by typing', async () => {
    const { venue } = await venueWith(Array.from({ length: 30 }, (_, at) => `Wall ${at + 1}`));
    const typed = (name: string) => new RegExp(`Type this code on the TV of "${name}"`);
    const { code } = await atTerminal(venue, {
      async during(io) {
        await io.until(typed('Wall 1'));
        // The end of the list is reached when all codes have been created.
        const atEnd = () => {
          io.type('\u001b[F');
          return shown(io).join('\n');
        };
        await expect.poll(atEnd).toMatch(typed('Wall 30'));
        expect(shown(io).join('\n')).toContain('16–30 of 30 · type to filter');
        io.type('\u001b[H');
        await expect.poll(() => shown(io).join('\n')).toMatch(typed('Wall 1'));
        expect(shown(io).length).toBeLessThanOrEqual(24);
        expect(shown(io).filter((row) => /^[█▀▄ ]+$/.test(row))).toHaveLength(4);
        expect(shown(io).find((row) => row.startsWith('›'))).toMatch(/^› Wall 1 /);
        io.type('\u001b[B');
        await io.until(typed('Wall 2'));
        io.type('\u001b[6~');
        await io.until(typed('Wall 12'));
        io.type('l 7');
        await io.until(/1 listed · filter: l 7 · Esc shows all/);
        expect(shown(io).filter((row) => row.includes('Wall'))).toHaveLength(2);
        io.type('\u007f');
        await io.until(/filter: l · Esc/);
        io.type('\u0003');
      },
    });
    expect(code).toBe(130);
  });

  it('leaves out the large letters in a low terminal, and wraps what is missing', async () => {
    const { id: venueId, name: venue } = await service.venue();
    for (const name of ['Bare', 'Other']) await service.screen({ venueId, name });
    let seen: string[] = [];
    await atTerminal(venue, {
      columns: 60,
      around: (io) => {
        const terminal = io.terminal();
        Object.assign(terminal.output, { columns: 60, rows: 10 });
        return { ...io, terminal: () => terminal };
      },
      async during(io) {
        const code = (await io.until(/Bare +[A-Z2-9]{4}-[A-Z2-9]{4}/)).slice(-9).replace('-', '');
        await (await registerTv(service.url, code)).missPlaylist();
        await io.until(/no playlist yet/);
        seen = shown(io, 60);
        io.signal('SIGINT');
      },
    });
    expect(seen.join('\n')).not.toMatch(/[█▀▄]{3}/);
    expect(seen.join(' ')).toMatch(
      /Bare: The screen has no playlist yet\. Publish one: +signage show/,
    );
    expect(Math.max(...seen.map((row) => row.length))).toBeLessThan(60);
  });
});

describe('merge', () => {
  const ended: string[] = [];
  async function* counting(name: string, count: number) {
    try {
      for (let at = 1; at <= count; at++) yield `${name}${at}`;
    } finally {
      ended.push(name);
    }
  }

  it('yields all values, with limited concurrency', async () => {
    const seen: string[] = [];
    const all = [counting('a', 2), counting('b', 1), counting('c', 2)];
    for await (const one of merge(all, 2, () => {})) seen.push(one);
    expect(seen.toSorted()).toEqual(['a1', 'a2', 'b1', 'c1', 'c2']);
    expect(seen.indexOf('c1')).toBeGreaterThan(seen.indexOf('b1'));
  });

  it('ends all generators when the consumer stops', async () => {
    ended.length = 0;
    let stopped = false;
    const stop = () => {
      stopped = true;
    };
    for await (const _ of merge([counting('a', 5), counting('b', 5)], 5, stop)) break;
    expect([stopped, ended.toSorted()]).toEqual([true, ['a', 'b']]);
  });
});
