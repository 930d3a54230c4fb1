// Runs the commands of docs/operations.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { adminToken, startService } from '../support/service/service.ts';

const page = readFileSync(join(checkout, 'docs/operations.md'), 'utf8');

/** Returns the `bash` blocks of one section. */
function commandsOf(section: string): string {
  const [, text = ''] = new RegExp(`^## ${section}\n(.*?)(?=^## |$(?![^]))`, 'ms').exec(page) ?? [];
  const blocks = [...text.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block = '']) => block);
  expect(blocks.length, section).toBeGreaterThan(0);
  return blocks.join('\n');
}

describe('docs/operations.md', { timeout: 120_000 }, () => {
  it('has commands that work, from the backup to the move to another machine', async () => {
    const folder = await temporaryFolder();
    const data = join(folder, 'data');
    const start = () => startService({ store: data, clock: systemClock });
    let service = await start();
    const program = (name: string, text: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(folder, name), 0o755);
    };
    program('signage', `exec '${process.execPath}' '${checkout}/bin/signage.js' "$@"`);
    // The service runs in this process. This writes a request to a file and waits for its removal.
    program(
      'systemctl',
      `echo "$1" > '${folder}/asked'; while [ -e '${folder}/asked' ]; do sleep 0.05; done`,
    );
    program('ssh', `[ "$1" = new-host ] || exit 99; shift; exec sh -c "$1"`);
    let busy = true;
    const systemd = (async () => {
      while (busy) {
        const asked = await readFile(join(folder, 'asked'), 'utf8').catch(() => '');
        if (asked === 'stop\n') await service.close();
        if (asked === 'start\n') {
          service = await start();
          await writeFile(join(folder, 'url'), service.url);
        }
        if (/^(stop|start)\n$/.test(asked)) await rm(join(folder, 'asked'));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const run = async (section: string) => {
      const env = {
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        HOME: folder,
        XDG_CONFIG_HOME: join(folder, 'config'),
        SIGNAGE_URL: service.url,
        SIGNAGE_TOKEN: adminToken,
        SIGNAGE_DATA: data,
        SIGNAGE_NO_INPUT: 'true',
      };
      // The service restarts on another port.
      const script = commandsOf(section).replaceAll(
        'systemctl start signage@4101\n',
        `systemctl start signage@4101\nSIGNAGE_URL=$(cat '${folder}/url')\n`,
      );
      const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], {
        cwd: folder,
        env,
      });
      const output: string[] = [];
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => void output.push(text));
      const [code] = await once(child, 'close');
      expect(code, `${section}\n${output.join('')}`).toBe(0);
      return output.join('');
    };
    const names = async () =>
      (await service.manage('GET', '/v1/venues')).body.items.map(
        ({ name }: { name: string }) => name,
      );

    await service.venue({ name: 'Kept' });
    const { deviceId } = await service.tv();
    expect(await run('Back up')).toContain('trial is not damaged');
    await service.manage('POST', '/v1/tokens', { name: 'Build server', role: 'operator' });
    expect(await run('Change keys and tokens')).toContain('The token is in build-server.token.');
    await service.manage('POST', `/v1/devices/${deviceId}/revoke`, { reason: 'stolen' });
    await service.venue({ name: 'After the backup' });
    expect(await run('Restore a backup')).toContain(`signage device revoke ${deviceId}`);
    expect(await names()).toEqual(expect.arrayContaining(['Kept']));
    expect(await names()).not.toContain('After the backup');
    expect(await run('Check the data')).toContain('is not damaged');

    await service.close();
    const document =
      (await readdir(join(data, 'documents'))).find((name) => name.startsWith('marks-')) ?? '';
    await writeFile(join(data, 'documents', document), 'x');
    await expect(start()).rejects.toMatchObject({ code: 'store_damaged' });
    expect(await run('Repair damaged data')).toContain('is ready to use');
    expect(await names()).toContain('Kept');
    expect(await run('Move to another machine')).toContain('is not damaged');
    expect(await readdir(`${data}.moved`)).toEqual(
      expect.arrayContaining(['manifest.json', 'secret']),
    );
    busy = false;
    await systemd;
  });
});
