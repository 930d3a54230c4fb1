// The built program in a real terminal: raw mode, signals and sizes. `script` of util-linux makes
// the terminal.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { ExaminedTv } from '../exam/examined-tv.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freePort } from '../support/network/free-port.ts';
import { openTerminal, type SignageTerminal } from '../support/process/signage-terminal.ts';
import { item } from '../support/service/content.ts';
import { adminToken, startService, type TestService } from '../support/service/service.ts';
import { tvPlace } from '../support/service/tv-place.ts';

let service: TestService<Clock>;
let home: string;
let env: Record<string, string>;

const codeOn = async (terminal: SignageTerminal) =>
  (await terminal.until(/Code ([A-Z2-9]{4}-[A-Z2-9]{4})/))[1]?.replace('-', '') ?? '';

/** A cursor that was hidden is shown again. */
const expectCursor = (terminal: SignageTerminal) =>
  expect(terminal.written().lastIndexOf('\u001b[?25l')).toBeLessThanOrEqual(
    terminal.written().lastIndexOf('\u001b[?25h'),
  );

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    beforeAll(async () => {
      service = await startService<Clock>({ clock: systemClock });
    });
    beforeEach(async () => {
      home = await temporaryFolder();
      env = { XDG_CONFIG_HOME: home, SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
    });

    it('signage login hides the token, and saves it for its owner alone', async () => {
      const terminal = openTerminal(['login', '--url', service.url], { XDG_CONFIG_HOME: home });
      await terminal.until(/Management token/);
      terminal.type(`${adminToken}\r`);
      expect(await terminal.ended).toBe(0);
      expect(terminal.written()).toContain('platform');
      expect(terminal.written()).not.toContain(adminToken.slice(0, 10));
      const file = join(home, 'signage', 'contexts.json');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).toContain(adminToken);
    });

    it('signage pair takes an installer from nothing to a paired TV', async () => {
      const terminal = openTerminal(['pair'], env);
      await terminal.until(/Name of the first venue:/);
      terminal.type('Harbour\r');
      await terminal.until(/Name of the screen in "Harbour":/);
      terminal.type('Left\r');
      const pairingCode = await codeOn(terminal);
      expect(terminal.seen()).toMatch(/[█▀▄]{3}/);
      const anyone = new RuntimeClient({ url: service.url });
      const { screenId, apiKey } = await anyone.register({
        pairingCode,
        deviceInfo: { manufacturer: 'Samsung', model: 'QM55B' },
      });
      await terminal.until(/✓ the TV registered/);
      await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
      const tv = anyone.withKey(apiKey);
      await tv.fetchPlaylist(screenId);
      await terminal.until(/✓ the TV fetched its playlist/);
      expect(terminal.seen()).not.toContain('paired ✓');
      await tv.postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]);
      expect(await terminal.ended).toBe(0);
      expect(terminal.seen()).toMatch(
        /paired ✓ Harbour\/Left · Samsung QM55B\n(?:.*\n)*Device +[0-9a-f-]{36}\nModel +Samsung QM55B/,
      );
    });

    it('signage pair follows a terminal that becomes narrow; Ctrl-C leaves no code, and the terminal as it was', async () => {
      const screen = await service.screen({ name: 'A screen with quite a long name' });
      const terminal = openTerminal(['pair', screen.id], { ...env, NO_COLOR: '1' });
      const code = await codeOn(terminal);
      terminal.resize(40, 30);
      await terminal.until(/(?:[█▀▄ ]{5} [^\n]*\n){4}\n(?:[█▀▄ ]{5} [^\n]*\n){4}/);
      const frame = terminal.written().split('\u001b[J').at(-1) ?? '';
      expect(Math.max(...frame.split('\r\n').map((line) => [...line].length))).toBeLessThan(40);
      expect(terminal.seen().match(/Type it on the TV/g)).toHaveLength(1);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      const path = `/v1/devices/provisioning-codes/${code}/status`;
      expect((await service.manage('GET', path)).body.status).toBe('cancelled');
      expect(terminal.seen()).toContain('was cancelled');
      expect(terminal.seen()).not.toMatch(/[█▀▄]/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
      expect(terminal.written()).not.toMatch(/\u001b\[[0-9;]*m/);
      expectCursor(terminal);
    });

    it('signage tv asks for a code, plays, asks for the next when it is revoked, and leaves the terminal as it was', async () => {
      const { code, screenId, devices } = await tvPlace(service, [item({ duration: 2 })]);
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
      expectCursor(terminal);
      expect((await devices()).map(({ state }: { state: string }) => state)).toEqual([
        'suspended',
        'bound',
      ]);
    });

    it('signage conformance --tv asks for the plug, and judges the TV after the power is back', async () => {
      const speed = 30;
      const tv = new ExaminedTv(speed);
      const listen = `127.0.0.1:${await freePort()}`;
      const options = ['--quick', '--speed', `${speed}`, '--part', 'power', '--listen', listen];
      const terminal = openTerminal(['conformance', '--tv', ...options], { XDG_CONFIG_HOME: home });
      const [, one, other, url] = await terminal.until(
        /code ([A-Z2-9]{4})-([A-Z2-9]{4}) on the TV\.\nService address for the TV: (\S+)/,
      );
      tv.onCode(`${one}${other}`, `${url}`);
      await terminal.until(/Pull the plug of the TV now\. Is it off\?/);
      await tv.off();
      terminal.type('y\r');
      // "No" asks again.
      await terminal.until(/Plug the TV in again\. Is it on\? \(Y\/n\)/);
      terminal.type('n\r');
      await terminal.until(/Is it on\? No\n.*Is it on\? \(Y\/n\)/);
      await tv.on();
      terminal.type('\r');
      const code = await terminal.ended;
      expect(terminal.written()).toMatch(/ (\d+) of \1 must, /);
      expect(terminal.written()).not.toMatch(/✗|The service refused/);
      expect(code).toBe(0);
      await tv.off();
    });
  },
);
