// Questions at a real terminal, put by the program as it was built.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { openTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let service: TestService<Clock>;
let home: string;

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
    });

    describe('signage login', () => {
      it('hides the token, and saves it for its owner alone', async () => {
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

      it('130 at Ctrl-C, and saves nothing', async () => {
        const terminal = openTerminal(['login', '--url', service.url], { XDG_CONFIG_HOME: home });
        await terminal.until(/Management token/);
        terminal.type('mak_half\u0003');
        expect(await terminal.ended).toBe(130);
        expect(terminal.written()).not.toContain('mak_half');
        await expect(stat(join(home, 'signage', 'contexts.json'))).rejects.toThrow('ENOENT');
      });
    });

    describe('a change of several screens', () => {
      it.each([
        ['y\r', 0, 'updated', { site: 'terminal', new: 'yes' }],
        ['n\r', 5, 'Nothing was changed', { site: 'terminal' }],
      ])('%j at the question exits %i', async (keys, exitCode, said, labels) => {
        const venue = await service.venue();
        const names = { venueId: venue.id, name: 'Main', labels: { site: 'terminal' } };
        const { id } = await service.screen(names);
        const env = { XDG_CONFIG_HOME: home, SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
        const selection = ['--selector', 'site in (terminal)', '--venue', venue.name];
        const terminal = openTerminal(
          ['screen', 'update', ...selection, '--label', 'new=yes'],
          env,
        );
        await terminal.until(/Change 1 screen: "Venue \d+\/Main"\?/);
        terminal.type(keys);
        expect(await terminal.ended).toBe(exitCode);
        expect(terminal.written()).toContain(said);
        expect((await service.manage('GET', `/v1/screens/${id}`)).body.labels).toEqual(labels);
      });
    });

    describe('signage venue delete', () => {
      it.each([
        ['y\r', 0, 404],
        ['n\r', 5, 200],
        ['\r', 5, 200],
        ['\u0003', 130, 200],
      ])('%j at the question exits %i', async (keys, exitCode, status) => {
        const venue = await service.venue();
        const env = { XDG_CONFIG_HOME: home, SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
        const terminal = openTerminal(['venue', 'delete', venue.name], env);
        await terminal.until(/Delete the venue "Venue \d+"\?/);
        terminal.type(keys);
        expect(await terminal.ended).toBe(exitCode);
        expect((await service.manage('GET', `/v1/venues/${venue.id}`)).status).toBe(status);
      });
    });
  },
);
