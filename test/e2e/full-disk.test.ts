// The built program on a full disk: no output is cut with exit code 0, and no secret is lost.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService as startKilled } from '../faults/kills/killed-service.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { adminToken, sendTo } from '../support/service/service.ts';

const disk = 16 * 1024;
let service: Awaited<ReturnType<typeof startKilled>>;
let folder: string;
let full: string;
let isMounted = false;

/** Runs a line of a shell. `signage` is the built program. */
function shell(line: string) {
  const program = `signage() { '${process.execPath}' '${join(checkout, 'bin/signage.js')}' "$@"; }`;
  const env = {
    ...{ PATH: process.env.PATH, XDG_CONFIG_HOME: join(folder, 'config'), FULL: full },
    ...{ SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken },
  };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${program}; ${line}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const list = async (path: string) =>
  (await sendTo(service.url, 'GET', path, { key: adminToken })).body.items;

describe.skipIf(process.platform !== 'linux')('on a full disk (Linux only: /dev/full)', () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startKilled(await temporaryFolder(), adminToken);
    full = join(folder, 'full');
    mkdirSync(full);
    // Only root may mount.
    isMounted =
      spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${disk}`, 'full', full]).status === 0;
    const { status, stderr } = shell(
      `signage venue create --name Lobby && (echo venue,name,labels; seq 120 | while read n; do printf 'Lobby,Screen %s,note=%0120d\\n' $n $n; done) > site.csv && signage apply -f site.csv --yes`,
    );
    expect([status, stderr]).toEqual([0, expect.any(String)]);
  });
  afterAll(async () => {
    await service.kill();
    if (isMounted) spawnSync('umount', [full]);
    rmSync(full, { recursive: true, force: true });
  });

  it.each([
    ...['--help', 'help options', 'serve --help', 'version', 'completion bash', 'nosuch'],
    ...['status', 'doctor', 'export', 'screen list', 'screen list -o json', 'venue list -o csv'],
    ...['screen list -o yaml', 'screen list -o ndjson', 'screen list -o name', 'audit list'],
    ...['screen get "Screen 7"', 'screen list --jq .[].id', 'whoami', 'api GET /v1/screens'],
    ...['api GET /metrics', 'token list'],
    ...['venue create --name "V $RANDOM"', 'screen create "Lobby/S $RANDOM"'],
  ])('signage %s says that its output is cut', (words) => {
    const { status, stderr } = shell(`signage ${words} > /dev/full`);
    expect(status).not.toBe(0);
    if (words !== 'nosuch') expect(stderr).toContain('cannot be written: no space left on device');
    expect(stderr).not.toMatch(/^ {4}at /m);
    const silent = shell(`signage ${words} 2> /dev/full`);
    expect([silent.stderr, silent.stdout]).not.toEqual([expect.stringMatching(/^ {4}at /m), '']);
  });

  it('notes that could not be written are no success', () => {
    const { status, stderr, stdout } = shell('signage venue delete Lobby --yes 2> /dev/full');
    expect(status).not.toBe(0);
    expect(stdout + stderr).toBe('');
  });

  it.each(['', '--jq .token', '-o json'])('token create %s leaves no live token', async (form) => {
    const { status, stderr } = shell(
      `signage token create --name Lost --role viewer ${form} > /dev/full`,
    );
    expect(status).toBe(1);
    expect(stderr).toContain('The token was deleted again.');
    expect((await list('/v1/tokens')).map(({ name }: { name: string }) => name)).not.toContain(
      'Lost',
    );
  });

  it('token create with a wrong --jq leaves no live token', async () => {
    const { status } = shell(`signage token create --name Lost --role viewer --jq '.token +'`);
    expect(status).toBe(2);
    expect((await list('/v1/tokens')).map(({ name }: { name: string }) => name)).not.toContain(
      'Lost',
    );
  });

  it('code create leaves no pending code', async () => {
    const { status, stderr } = shell('signage code create "Screen 7" -o name > /dev/full');
    expect([status, stderr]).toEqual([1, expect.stringContaining('1 new code cancelled.')]);
    const many = shell('signage code create --venue Lobby --yes -o csv > /dev/full');
    expect([many.status, many.stderr]).toEqual([1, expect.stringContaining('cancelled.')]);
    const screens = await list('/v1/screens?limit=200');
    for (const { provisioningCode } of screens)
      expect(provisioningCode?.status ?? 'none').not.toBe('pending');
  });

  it('a small disk takes a whole output or none that passes for one', ({ skip }) => {
    if (!isMounted) skip('only root can mount a small file system');
    for (const line of [
      'signage export > $FULL/site.yaml',
      'signage screen list -o json > $FULL/a.json',
      'signage data backup --out $FULL/backup.ndjson',
      'head -c 100000 /dev/zero > $FULL/filler 2> /dev/null; signage token create --name Lost --role viewer --output-file $FULL/t',
      'head -c 100000 /dev/zero > $FULL/filler 2> /dev/null; signage pair --venue Lobby --all --yes --codes-file $FULL/codes.csv --timeout 5s',
    ]) {
      const { status, stderr } = shell(line);
      expect([line, status]).not.toEqual([line, 0]);
      expect(stderr).toMatch(/cannot be written: no space left on device/);
      expect(stderr).not.toMatch(/^ {4}at /m);
      shell('rm -rf $FULL/*');
    }
    expect(shell('signage whoami > $FULL/me').status).toBe(0);
    expect(readFileSync(join(full, 'me'), 'utf8')).toContain('platform');
  });

  it('a reader that stops early is no error', () => {
    expect(shell('set -o pipefail; signage screen list | head -1 && echo 0').stdout).toMatch(
      /\n0\n$/,
    );
  });
});
