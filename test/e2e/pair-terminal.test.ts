// `signage pair`, as it was built, in a real terminal. `script` of util-linux makes the terminal.
import { beforeAll, describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { item } from '../support/content.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { openTerminal, type SignageTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let service: TestService<Clock>;
let env: Record<string, string>;

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'signage pair in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    beforeAll(async () => {
      service = await startService<Clock>({ clock: systemClock });
      env = {
        XDG_CONFIG_HOME: await temporaryFolder(),
        SIGNAGE_URL: service.url,
        SIGNAGE_TOKEN: adminToken,
      };
    });

    const codeOn = async (terminal: SignageTerminal) =>
      (await terminal.until(/Code ([A-Z2-9]{4} [A-Z2-9]{4})/))[1]?.replace(' ', '') ?? '';
    const statusOf = async (code: string) =>
      (await service.manage('GET', `/v1/devices/provisioning-codes/${code}/status`)).body.status;

    it('takes an installer from nothing to a paired TV', async () => {
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
      await anyone.withKey(apiKey).fetchPlaylist(screenId);
      await terminal.until(/✓ the TV fetched its playlist/);
      expect(terminal.seen()).not.toContain('paired ✓');
      await anyone
        .withKey(apiKey)
        .postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]);
      expect(await terminal.ended).toBe(0);
      expect(terminal.seen()).toMatch(
        /paired ✓ Harbour\/Left · Samsung QM55B\n(?:.*\n)*Device +[0-9a-f-]{36}\nModel +Samsung QM55B/,
      );
    });

    it('Ctrl-C exits 130, leaves no code and the terminal as it was', async () => {
      const screen = await service.screen({ name: 'Main' });
      const terminal = openTerminal(['pair', screen.id], env);
      const code = await codeOn(terminal);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(await statusOf(code)).toBe('cancelled');
      expect(terminal.seen()).toContain('was cancelled');
      expect(terminal.seen()).not.toMatch(/[█▀▄]/);
      // A cursor that was hidden is shown again.
      expect(terminal.written().lastIndexOf('\u001b[?25l')).toBeLessThanOrEqual(
        terminal.written().lastIndexOf('\u001b[?25h'),
      );
    });

    it('leaves no code when the terminal is closed', async () => {
      const screen = await service.screen({ name: 'Closed' });
      const terminal = openTerminal(['pair', screen.id], env);
      const code = await codeOn(terminal);
      terminal.hangUp();
      const { body } = await service.manage(
        'GET',
        `/v1/devices/provisioning-codes/${code}/status?waitSeconds=20`,
      );
      expect(body.status).toBe('cancelled');
    });

    it('Ctrl-C at a question exits 130, and nothing was made', async () => {
      const terminal = openTerminal(['pair', '--venue', 'Pier', '--create'], env);
      await terminal.until(/Name of the screen in "Pier"/);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect((await service.manage('GET', '/v1/venues?name=Pier')).body.items).toEqual([]);
    });

    it('fits into 40 columns without colours, and follows a terminal that becomes so narrow', async () => {
      const screen = await service.screen({ name: 'A screen with quite a long name' });
      const terminal = openTerminal(['pair', screen.id], { ...env, NO_COLOR: '1' });
      await codeOn(terminal);
      terminal.resize(40, 30);
      await terminal.until(/(?:[█▀▄ ]{5} [^\n]*\n){4}\n(?:[█▀▄ ]{5} [^\n]*\n){4}/);
      const frame = terminal.written().split('\u001b[J').at(-1) ?? '';
      expect(Math.max(...frame.split('\r\n').map((line) => [...line].length))).toBeLessThan(40);
      expect(terminal.seen().match(/Type it on the TV/g)).toHaveLength(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
      expect(terminal.written()).not.toMatch(/\u001b\[[0-9;]*m/);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
    });

    it('--qr shows the whole address of the web player, too, in 80 columns', async () => {
      const screen = await service.screen({ name: 'Code' });
      const terminal = openTerminal(['pair', screen.id, '--qr'], env);
      const code = await codeOn(terminal);
      await terminal.until(
        new RegExp(`^In a browser instead: ${service.url}/player#${code}$`, 'm'),
      );
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
    });

    it('--qr without the live view prints the address of the web player', async () => {
      const screen = await service.screen({ name: 'Printed' });
      const terminal = openTerminal(['pair', screen.id, '--qr', '--verbose'], env);
      await terminal.until(new RegExp(`In a browser instead: ${service.url}/player#[A-Z2-9]{8}`));
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
    });

    it('the second of two installers at a screen sees no success', async () => {
      const screen = await service.screen({ name: 'Shared' });
      const first = openTerminal(['pair', screen.id], env);
      const pairingCode = await codeOn(first);
      const second = openTerminal(['pair', screen.id], env);
      const other = await codeOn(second);
      expect(second.seen()).toContain('Another pairing code is pending: for "Shared"');
      await new RuntimeClient({ url: service.url }).register({ pairingCode, deviceInfo: {} });
      await first.until(/✓ the TV registered/);
      expect(await second.ended).toBe(5);
      const shown = `${other.slice(0, 4)} ${other.slice(4)}`;
      expect(second.seen().replaceAll('\n', '')).toContain(
        `Not paired: your code ${shown} was not used.`,
      );
      expect(second.seen()).not.toContain('✓');
      first.type('\u0003');
      expect(await first.ended).toBe(130);
    });

    it('pairs many at 60 by 20, by keys, and Ctrl-C cancels all codes', async () => {
      const venue = await service.venue();
      for (let at = 1; at <= 14; at++)
        await service.screen({ venueId: venue.id, name: `Wall ${at}` });
      const terminal = openTerminal(['pair', '--venue', venue.name, '--all'], env, [60, 20]);
      await terminal.until(/TV of "Wall 1"/);
      await terminal.until(/1–\d+ of 14/);
      terminal.type('14');
      await terminal.until(/TV of "Wall 14"[\s\S]*1 listed · filter: 14/);
      const frame = terminal.written().split('\u001b[J').at(-1) ?? '';
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of it
      const rows = frame.replaceAll(/\u001b\[[0-9;]*m/g, '').split('\r\n');
      expect(rows.length).toBeLessThanOrEqual(20);
      expect(Math.max(...rows.map((row) => [...row].length))).toBeLessThan(60);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.seen()).toContain('0 of 14 screens are paired.');
      expect(terminal.seen()).toContain('The unused codes of 14 screens were cancelled.');
      expect(terminal.seen()).not.toContain('Warning');
    });

    it('asks nothing under CI', async () => {
      const terminal = openTerminal(['pair'], { ...env, CI: 'true' });
      expect(await terminal.ended).toBe(2);
      expect(terminal.seen()).toContain('--venue');
    });
  },
);
