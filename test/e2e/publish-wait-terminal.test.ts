// `signage playlist publish --wait`, as built, in a real terminal.
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { item } from '../support/content.ts';
import { adminToken, type BoundTv, startService } from '../support/service.ts';
import { openTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'signage playlist publish --wait in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    let env: Record<string, string>;
    let tvs: BoundTv[];
    let file: string;

    beforeAll(async () => {
      const service = await startService({ clock: systemClock });
      const folder = await temporaryFolder();
      env = { XDG_CONFIG_HOME: folder, SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken };
      file = `${folder}/playlist.json`;
      const venue = await service.venue({ name: 'Lobby' });
      tvs = [];
      for (const name of ['A', 'B', 'C']) {
        const screen = await service.screen({ venueId: venue.id, name });
        tvs.push(await service.tv(screen.id));
      }
    });

    const publish = async (limit: string) => {
      await writeFile(file, JSON.stringify({ items: [item()] }));
      const line = ['playlist', 'publish', '--venue', 'Lobby', '-f', file, '--yes'];
      return openTerminal([...line, '--wait', limit], env);
    };

    it('draws a progress bar, erases it, and prints the results', async () => {
      const terminal = await publish('50s');
      await terminal.until(/^\[ +\] 0 of 3 have it$/m);
      await tvs[0]?.send('GET', 'playlist');
      await terminal.until(/^\[#+ +\] 1 of 3 have it$/m);
      for (const tv of tvs) await tv.send('GET', 'playlist');
      expect(await terminal.ended).toBe(0);
      expect(terminal.seen()).toMatch(/^3 of 3 TVs have the new version\.\nNAME/m);
      expect(terminal.seen()).not.toContain('have it');
    });

    it('ends at Ctrl-C with 130, the results, and that the playlist stays published', async () => {
      const terminal = await publish('50s');
      await terminal.until(/0 of 3 have it$/m);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.seen()).toContain('The playlist stays published.');
      expect(terminal.seen()).toMatch(/^Lobby\/A +published/m);
      expect((await tvs[0]?.send('GET', 'playlist'))?.body.version).toBe(2);
    });
  },
);
