import { execFile } from 'node:child_process';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { freePort } from '../support/network/free-port.ts';
import { nginxPath, startNginxWith } from '../support/network/proxies.ts';
import { unitOptions } from '../support/runtime/node-options.ts';
import { startService } from '../support/service/service.ts';

const run = promisify(execFile);
const above = (path: string) => new URL(`../../${path}`, import.meta.url);
const optionsIn = (line = '') => line.match(/--[a-z0-9-]+=\w+/g);

describe('docs/deployment', () => {
  it('starts Node with the same options in the unit, the image, docs/deploy.md and the benchmarks', async () => {
    const read = (name: string) => readFile(above(`docs/${name}`), 'utf8');
    const [unit, image, text] = [
      await read('deployment/signage@.service'),
      await read('deployment/Dockerfile'),
      await read('deploy.md'),
    ];
    const lines = [
      unit.match(/^ExecStart=.*/m),
      image.match(/^ENTRYPOINT .*/m),
      text.match(/^node --.* serve$/m),
    ];
    expect(lines.map((line) => optionsIn(line?.[0]))).toEqual([
      unitOptions,
      unitOptions,
      unitOptions,
    ]);
  });

  it('gives the service only the permissions that it needs in the unit', async () => {
    const unit = await readFile(above('docs/deployment/signage@.service'), 'utf8');
    const lines = [
      'UMask=0077',
      'LimitCORE=0',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectProc=invisible',
      'ProtectClock=yes',
      'ProtectKernelLogs=yes',
      'ProtectHostname=yes',
    ];
    expect(lines.filter((line) => !unit.split('\n').includes(line))).toEqual([]);
  });

  it('uses options that this Node supports', async () => {
    const { stdout } = await run(process.execPath, [
      ...unitOptions,
      fileURLToPath(above('bin/signage.js')),
      '--version',
    ]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.skipIf(nginxPath === undefined)(
    'runs nginx in compose.yaml, in front of the instances of compose.yaml',
    async () => {
      const { services } = parse(await readFile(above('docs/deployment/compose.yaml'), 'utf8'), {
        merge: true,
      });
      const mounted = services.proxy.volumes.map((volume: string) => volume.split(':'));
      const files = mounted.filter(([, to]: string[]) => to?.startsWith('/etc/nginx/conf.d/'));
      let http = '';
      for (const [from] of files) http += await readFile(above(from), 'utf8');
      const instances = [await startService(), await startService()];
      const port = await freePort();
      http = http.replace('listen 80;', `listen 127.0.0.1:${port};`);
      // The names of other containers and the port of the image.
      for (const [index, name] of ['signage-1', 'signage-2'].entries()) {
        expect(Object.keys(services)).toContain(name);
        http = http.replaceAll(`${name}:4100`, new URL(instances[index]!.url).host);
      }
      const url = await startNginxWith(http, port);
      const statusOf = async (path: string) => (await fetch(url + path)).status;
      for (let n = 0; n < 4; n++) expect(await statusOf('/healthz')).toBe(200);
      expect(await statusOf('/metrics')).toBe(404);
      await instances[0]!.close();
      for (let n = 0; n < 4; n++) expect(await statusOf('/healthz')).toBe(200);
    },
  );
});

describe('the watchdog of docs/player-kiosk', () => {
  it.each([
    ['leaves a player that plays', 30, 600, ''],
    ['leaves a player that starts', 600, 30, ''],
    ['restarts a player that is frozen', 95, 600, 'try-restart signage-player.service'],
  ])('%s: page alive %i s ago, unit started %i s ago', async (...row) => {
    const [, aliveSeconds, startedSeconds, expected] = row;
    const folder = await temporaryFolder();
    const database = `${folder}/chromium/Default/IndexedDB`;
    await mkdir(database, { recursive: true });
    const ages = { [`${database}/log`]: aliveSeconds, [`${folder}/started`]: startedSeconds };
    const nowSeconds = Date.now() / 1000;
    for (const [path, age] of Object.entries(ages)) {
      await writeFile(path, '');
      await utimes(path, nowSeconds - age, nowSeconds - age);
    }
    await utimes(database, nowSeconds - 600, nowSeconds - 600);
    const unit = await readFile(above('docs/player-kiosk/signage-player-watch.service'), 'utf8');
    const command = /ExecStart=\/bin\/sh -c '([^']+)'/.exec(unit)?.[1] ?? '';
    const script = command
      .replaceAll('\\\n', '')
      .replace('/var/lib/signage-player', folder)
      .replace('systemctl', 'echo');
    const { stdout } = await run('/bin/sh', ['-c', script]);
    expect(stdout.trim()).toBe(expected);
  });
});
