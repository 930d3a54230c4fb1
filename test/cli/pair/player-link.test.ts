import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { bindingInFragment } from '../../../src/player/pairing/player-link.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { type Cli, cliOf, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

const screenId = async () => (await service.screen()).id;

describe('signage pair --qr-web', () => {
  it('shows the address of the web player with the code in the fragment', async () => {
    const id = await screenId();
    const { stderr, ndjson, code } = await cli(
      ['pair', id, '--qr-web', '-o', 'ndjson', '--wait-for', 'registered'],
      {
        async during(io) {
          const [, shown = ''] =
            /\/player#(\w{8})\n/.exec(await io.until(/\/player#\w{8}\n/)) ?? [];
          await service.register(shown);
        },
      },
    );
    expect(code).toBe(0);
    expect(ndjson[0].link).toBe(`${service.url}/player#${ndjson[0].code}`);
    expect(stderr).toContain(`${ndjson[0].link}\n`);
    expect(stderr).toContain('█');
  });
});

describe('signage pair --qr', () => {
  it('names no web player that the service does not have', async () => {
    const own = await startService<Clock>({ clock: systemClock, player: false });
    const { id } = await own.screen();
    const { code, stderr } = await cliOf(own, adminToken)(['pair', id, '--qr'], {
      during: async (io) => void io.until(/signage:\/\/pair/).then(() => io.signal('SIGINT')),
    });
    expect(code).toBe(130);
    expect(stderr).not.toContain('/player#');
  });
});

describe('signage pair --player-link-file', () => {
  const argv = ['--wait-for', 'registered', '-o', 'ndjson', '--player-link-file'];

  it('registers, and writes a link whose key works into a new file for its owner', async () => {
    const id = await screenId();
    const file = join(await temporaryFolder(), 'player.url');
    const { code, stdout, stderr, ndjson } = await cli(['pair', id, ...argv, file]);
    expect(code).toBe(0);
    const link = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { origin, pathname, hash, search } = new URL(link);
    expect([origin, pathname, search]).toEqual([service.url, '/player', '']);
    const { apiKey = '', screenId: bound, deviceId } = bindingInFragment(hash) ?? {};
    expect([bound, deviceId]).toEqual([id, ndjson.at(-1).deviceId]);
    expect(stdout + stderr).not.toContain('dak_');
    expect(stderr).toContain('never rotates its key');
    const config = await service.send('GET', `/devices/${id}/config`, { key: apiKey });
    expect(config.status).toBe(200);
  });

  it('leaves no file when the screen has a TV', async () => {
    const tv = await service.tv();
    const file = join(await temporaryFolder(), 'player.url');
    const { code } = await cli(['pair', tv.screenId, ...argv, file, '--no-input']);
    expect(code).toBe(5);
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
