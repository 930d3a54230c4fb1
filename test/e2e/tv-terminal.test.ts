// `signage tv`, as it was built: in a real terminal (`script` of util-linux makes it), and killed
// like a TV whose plug is pulled.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { item } from '../support/content.ts';
import { startService, type TestService } from '../support/service.ts';
import { checkout, endProcesses, startProcess } from '../support/signage-process.ts';
import { openTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { tvPlace } from '../support/tv-place.ts';

let service: TestService<Clock>;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
  folder = await temporaryFolder();
  env = { XDG_CONFIG_HOME: folder, SIGNAGE_URL: service.url };
});
afterEach(endProcesses);

const campaignId = '00000000-0000-4000-8000-0000000000ca';
const place = () => tvPlace(service, [item({ duration: 2, campaignId })]);

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'signage tv in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    it('asks for a code, plays, asks for the next when it is revoked, and leaves the terminal as it was', async () => {
      const { code, screenId, devices } = await place();
      const terminal = openTerminal(['tv', '--speed', '60'], env);
      await terminal.until(/Pairing code:/);
      terminal.type(`${code.slice(0, 4)} ${code.slice(4)}\r`);
      await terminal.until(/^playing, ×60$/m);
      await terminal.until(/▶ spring\.mp4, video, 1 of 1/);
      const [first] = await devices();
      await service.manage('POST', `/v1/devices/${first.id}/revoke`);
      await terminal.until(/revoked.*Pairing code:/s);
      expect(terminal.seen()).not.toContain('▶');
      terminal.type(`${(await service.code(screenId)).code}\r`);
      await terminal.until(/^playing, ×60$/m);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.seen()).toMatch(/The TV has stopped: \d+ events stored\.$/);
      // A cursor that was hidden is shown again.
      expect(terminal.written().lastIndexOf('\u001b[?25l')).toBeLessThanOrEqual(
        terminal.written().lastIndexOf('\u001b[?25h'),
      );
      expect((await devices()).map(({ state }: { state: string }) => state)).toEqual([
        'suspended',
        'bound',
      ]);
    });

    it('shows a claim in large letters, asks before it accepts a screen, and plays', async () => {
      const guarded = await startService<Clock>({ clock: systemClock, trustProxy: ['127.0.0.1'] });
      const elsewhere = { headers: { 'x-forwarded-for': '198.51.100.4' } };
      const venue = await guarded.manage('POST', '/v1/venues', { name: 'Lobby' }, elsewhere);
      const main = { venueId: venue.body.id, name: 'Main' };
      const screen = await guarded.manage('POST', '/v1/screens', main, elsewhere);
      const terminal = openTerminal(['tv', '--claim'], { ...env, SIGNAGE_URL: guarded.url });
      const offer = async (shown: RegExp) => {
        const [, claim] = await terminal.until(shown);
        const path = `/v1/devices/claims/${claim}/offer`;
        await guarded.manage('POST', path, { screenId: screen.body.id }, elsewhere);
      };
      await offer(/█[\s\S]*signage pair VENUE\/SCREEN --tv (\w{6})$/m);
      await terminal.until(/"default" offers this TV the screen "Lobby\/Main"\. Accept\? \(y\/N\)/);
      // Enter alone accepts nothing: there is a new claim.
      terminal.type('\r');
      await offer(/Accept\? No[\s\S]*--tv (\w{6})$/m);
      await terminal.until(/Accept\? No[\s\S]*Accept\? \(y\/N\)/);
      terminal.type('y\r');
      await terminal.until(/^nothing to show$/m);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      const { body } = await guarded.manage('GET', `/v1/screens/${screen.body.id}`);
      expect(body.state).toBe('active');
    });

    it('follows a terminal that becomes narrow, without colours', async () => {
      const { code } = await place();
      const terminal = openTerminal(['tv', '--code', code], { ...env, NO_COLOR: '1' });
      await terminal.until(/events +202/);
      terminal.resize(40, 12);
      await terminal.until(/^http:\/\/127\.0\.0\.1:\d+$/m);
      // The width is set first, and the height after that.
      const frame = () => (terminal.written().split('\u001b[J').at(-1) ?? '').split('\r\n');
      while (frame().length !== 12) await new Promise(setImmediate);
      expect(Math.max(...frame().map((line) => [...line].length))).toBeLessThan(40);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
      expect(terminal.written()).not.toMatch(/\u001b\[[0-9;]*m/);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
    });
  },
);

describe('signage tv that is killed', { timeout: 60_000 }, () => {
  it('is the same TV when it is started again, and nothing is lost or told twice', async () => {
    const { code, devices, events } = await place();
    const file = join(folder, 'killed.json');
    const start = (...more: string[]) =>
      startProcess(
        [
          join(checkout, 'bin/signage.js'),
          'tv',
          '--state',
          file,
          '-o',
          'ndjson',
          '--speed',
          '20',
          ...more,
        ],
        {
          cwd: folder,
          env,
        },
      );
    const told: { what: string; event?: object }[] = [];
    let tv = start('--code', code);
    for (let life = 0; life < 3; life++) {
      // In the middle of whatever it does; the state that is on the disk is whole.
      await tv.until(/"type":"impression"/);
      tv.signal('SIGKILL');
      expect(await tv.ended).toBeNull();
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
        format: 1,
        tv: { binding: {} },
      });
      told.push(
        ...tv
          .out()
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      );
      tv = start();
    }
    await tv.until(/"what":"acknowledged"/);
    tv.signal('SIGINT');
    expect(await tv.ended).toBe(130);
    told.push(
      ...tv
        .out()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    );
    expect(await devices()).toHaveLength(1);
    const stored: object[] = await events();
    const starts = stored.filter((event) => (event as { type: string }).type === 'app_started');
    expect(starts).toHaveLength(4);
    // Each event at most once; those that are missing were never saved, and never acknowledged.
    const acknowledged = told.filter(({ what }) => what === 'acknowledged') as {
      received?: number;
    }[];
    expect(stored.length).toBeGreaterThanOrEqual(
      acknowledged.reduce((sum, { received = 0 }) => sum + received, 0),
    );
    const kinds = stored.map((event) => JSON.stringify(event));
    const made = told.flatMap(({ what, event }) =>
      what === 'event' && event ? [JSON.stringify(event)] : [],
    );
    for (const kind of new Set(kinds)) {
      expect(kinds.filter((one) => one === kind).length).toBeLessThanOrEqual(
        made.filter((one) => one === kind).length,
      );
    }
  });

  it('lets the file go as soon as it is gone', async () => {
    const { code } = await place();
    const file = join(folder, 'held.json');
    const argv = [join(checkout, 'bin/signage.js'), 'tv', '--state', file];
    const first = startProcess([...argv, '--code', code], { cwd: folder, env });
    await first.until(/shows/);
    const second = startProcess([...argv, '--once'], { cwd: folder, env });
    expect(await second.ended).toBe(5);
    first.signal('SIGKILL');
    await first.ended;
    const third = startProcess([...argv, '--once'], { cwd: folder, env });
    expect(await third.ended).toBe(0);
  });
});
