// Runs the script of docs/runbook.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { item } from '../support/service/management.ts';
import { adminToken, startService, type TestService } from '../support/service/service.ts';

const [, script = ''] =
  /^```bash\n(.*?)^```$/ms.exec(readFileSync(join(checkout, 'docs/runbook.md'), 'utf8')) ?? [];

let service: TestService<typeof systemClock>;
let folder: string;
beforeEach(async () => {
  service = await startService({ clock: systemClock });
  folder = await temporaryFolder();
  writeFileSync(join(folder, 'provision.sh'), script);
  writeFileSync(join(folder, 'playlist.json'), JSON.stringify({ items: [item()] }));
  // The script may use bash and signage, but not jq and curl.
  for (const missing of ['jq', 'curl']) writeProgram(missing, 'echo "not to be used" >&2; exit 99');
  writeProgram('signage', `exec '${process.execPath}' '${checkout}/bin/signage.js' "$@"`);
});

function writeProgram(name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

interface Provisioning {
  env?: Record<string, string>;
  playlist?: string;
  /** Called with each code that the script shows. */
  onCode?: (code: string) => Promise<unknown>;
  interruptAtCode?: boolean;
}

async function provision(
  screens: string[],
  { env = {}, playlist = 'playlist.json', onCode, interruptAtCode }: Provisioning = {},
) {
  const world = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    SIGNAGE_URL: service.url,
    SIGNAGE_TOKEN: adminToken,
    PAIRING_TIMEOUT: '20s',
    // Asks no host of the internet.
    https_proxy: 'http://127.0.0.1:1',
    ...env,
  };
  const child = spawn('bash', ['provision.sh', 'Main Lobby', playlist, ...screens], {
    cwd: folder,
    env: world,
    detached: true,
  });
  const typed: Promise<unknown>[] = [];
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const [, code = ''] of text.matchAll(/: type (\w{8}) into the TV\n/g)) {
      if (onCode) typed.push(onCode(code));
      // Like Ctrl-C, to all processes of the job.
      if (interruptAtCode && child.pid !== undefined)
        setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGINT'), 1_000);
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  await Promise.all(typed);
  // The media of examples cannot be reached.
  return {
    code,
    stdout,
    stderr: stderr.replaceAll(/^Warning: The media of media\.example\.com .*\n/gm, ''),
  };
}

/** Acts as a TV with this code: registers, fetches its playlist, and reports. */
async function tv(pairingCode: string) {
  const { status, body } = await service.register(pairingCode, { deviceInfo: { model: 'Frame' } });
  expect(status).toBe(201);
  const key = body.apiKey;
  expect((await service.send('GET', `/devices/${body.screenId}/playlist`, { key })).status).toBe(
    200,
  );
  const events = [{ type: 'heartbeat', timestamp: 1_790_000_000 }];
  expect(
    (await service.send('POST', `/devices/${body.screenId}/events`, { key, body: events })).status,
  ).toBe(202);
}

const listScreens = async () => (await service.manage('GET', '/v1/screens')).body.items;

describe('docs/runbook.md', { timeout: 120_000 }, () => {
  it('provisions a venue, and changes nothing the second time', async () => {
    const first = await provision(['Main', 'Bar left'], { onCode: tv });
    expect(first, first.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.replaceAll(/type \w{8}/g, 'type CODE')).toBe(
      [
        'made    venue Main Lobby',
        'made    screen Main Lobby/Main',
        'made    screen Main Lobby/Bar left',
        'set     settings of Main Lobby',
        'plays   Main Lobby/Main: version 1',
        'plays   Main Lobby/Bar left: version 1',
        'pair    Main Lobby/Main: type CODE into the TV',
        'pair    Main Lobby/Bar left: type CODE into the TV',
        'paired  Main Lobby/Main',
        'paired  Main Lobby/Bar left',
        'online  Main Lobby/Main',
        'online  Main Lobby/Bar left',
        'done    Main Lobby: 2 screens',
        '',
      ].join('\n'),
    );
    const before = await listScreens();
    expect(before.map(({ state }: { state: string }) => state)).toEqual(['active', 'active']);

    const second = await provision(['Main', 'Bar left']);
    expect(second, second.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).not.toMatch(/made|type/);
    expect(second.stdout).toContain('kept    screen Main Lobby/Main\n');
    expect(second.stdout).toContain('plays   Main Lobby/Main: version 1\n');
    expect(await listScreens()).toEqual(before);
  });

  it('9 when one of the TVs is not paired, with the name of its screen', async () => {
    let count = 0;
    const onCode = async (code: string) => (++count === 1 ? tv(code) : undefined);
    const { code, stdout, stderr } = await provision(['Main', 'Bar'], {
      env: { PAIRING_TIMEOUT: '3s' },
      onCode,
    });
    expect(code, stderr).toBe(9);
    expect(stdout).toContain('online  Main Lobby/Main\n');
    expect(stderr).toContain('Main Lobby/Bar does not play yet');
    expect(stderr).not.toContain('Main Lobby/Main does not');
  });

  it('130 when interrupted', async () => {
    const { code, stderr } = await provision(['Main'], { interruptAtCode: true });
    expect(code, stderr).toBe(130);
  });

  it.each([
    ['2 without arguments', [], {}, 2, /usage:/],
    ['2 without a playlist', ['Main'], { playlist: 'none.json' }, 2, /none\.json cannot be read/],
    [
      '9 when nothing listens at the address',
      ['Main'],
      { env: { SIGNAGE_URL: 'http://127.0.0.1:9' } },
      9,
      /nothing listens there/,
    ],
    [
      '9 for a refused token',
      ['Main'],
      { env: { SIGNAGE_TOKEN: 'mak_ThisTokenIsNoneThatAnybodyKnows' } },
      9,
      /✗ credential: /,
    ],
  ])('%s, and changes nothing', async (_, screens, options: Provisioning, exitCode, message) => {
    const { code, stderr } = await provision(screens, options);
    expect(code).toBe(exitCode);
    expect(stderr).toMatch(message);
    expect(await listScreens()).toEqual([]);
  });

  it('4 for too low a role, and changes nothing', async () => {
    const { code, stderr } = await provision(['Main'], {
      env: { SIGNAGE_TOKEN: await service.token('installer') },
    });
    expect({ code, stderr }).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('this one is installer'),
    });
    expect(await listScreens()).toEqual([]);
  });

  it('6 for a playlist that the service refuses', async () => {
    writeFileSync(
      join(folder, 'playlist.json'),
      JSON.stringify({ items: [item({ duration: -1 })] }),
    );
    const { code, stderr } = await provision(['Main']);
    expect({ code, stderr }).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('line 1: items[0].duration'),
    });
  });
});
