import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { serveWithDefect } from '../../support/stores/seeded-defects.ts';
import { type Cli, cliOf, runCli, startCli } from '../run-cli.ts';
import { stopAfter } from '../tv/run-tv.ts';

let service: TestService<never>;
let cli: Cli;
let management: ManagementClient;
let folder: string;

beforeAll(async () => {
  const started = await startCli();
  ({ cli } = started);
  service = started.service as unknown as TestService<never>;
  management = new ManagementClient({ url: service.url, token: adminToken });
  folder = await temporaryFolder();
});

/** A few TVs that live for 20 minutes at maximum speed. */
const quick = ['simulate', '--count', '2', '--life', '20m', '--speed', 'max', '--seed', '7'];
const venues = async () => (await management.call('listVenues')).items.map(({ name }) => name);

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('signage simulate', () => {
  it('prints a report on stdout, deletes its records, and ends with 0', async () => {
    const { code, stdout, stderr } = await cli(quick);
    expect(stdout).toMatch(/^Seed +7 \(to repeat the run: --seed 7\)\nTVs +2 of 2 bound\n/);
    expect(stdout).toMatch(
      /Compared +2 devices, (\d+) events acknowledged, \1 stored: nothing lost, duplicated or unexpected\nLeft +\1 events \(signage report leaves them out\) in the service\n/,
    );
    expect(stdout).toMatch(/CALL +REQUESTS +P50 +P95 +P99 +LONGEST +ANSWERS\n/);
    expect(stdout).toMatch(/postEvents +\d+ .* 202: \d+\n/);
    expect(stdout).not.toContain('RECOVERED ERROR');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await venues()).toEqual([]);
  });

  it('prints only JSON or YAML on stdout', async () => {
    const { json, code } = await cli([...quick, '-o', 'json']);
    expect({ code, json }).toMatchObject({
      code: 0,
      json: { seed: '7', tvs: { bound: 2 }, reconciliation: { findings: [] } },
    });
    const { stdout } = await cli([...quick, '-o', 'yaml']);
    expect(parse(stdout)).toMatchObject({
      seed: '7',
      tvs: { bound: 2 },
      reconciliation: { outcome: 'compared' },
    });
  });

  it('rotates the keys of TVs, and checks at the end that each has a working key', async () => {
    const { code, stdout } = await cli([...quick, '--rotate-every', '5m']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Keys +(\d+) rotations; \d+ keys issued, 2 work, on 2 TVs\n/);
    expect(stdout).toMatch(/rotateDeviceKey +\d+ .* 201: \d+\n/);
  });

  it('generates a seed, and prints it', async () => {
    const argv = quick.filter((word) => word !== '--seed' && word !== '7');
    const [one, other] = [await cli([...argv, '-o', 'json']), await cli([...argv, '-o', 'json'])];
    expect(one.json.seed).toMatch(/^\d+$/);
    expect(other.json.seed).not.toBe(one.json.seed);
  });

  it('follows a scenario, which options override', async () => {
    const options = ['--count', '2', '--life', '3h', '--speed', 'max', '-o', 'json'];
    const { json, code } = await cli(['simulate', '--scenario', 'lost-answers', ...options]);
    expect(code).toBe(0);
    expect(json.tvs.count).toBe(2);
    expect(json.faults.map((fault: { rule: string }) => fault.rule)).toContain(
      'lost-answer:register:50%',
    );
    expect(json.events.made).toBeLessThan(2 * 60);
    expect(json.failures.map((failure: { code: string }) => failure.code)).toEqual(['unreachable']);
  });

  it('combines a scenario file with faults, and uses its TV models', async () => {
    const path = await file(
      'own.yaml',
      'count: 2\nlife: 1h\nspeed: max\nprofiles: [lg-webos]\nplaylist:\n  items: [{ creativeId: c1a0e5d2-47b3-4c68-9f2a-000000000001, creativeUrl: "https://x.example/1.png", creativeType: image, duration: 600 }]\n',
    );
    const options = ['--fault', 'duplicate:events:100%', '--keep', join(folder, 'kept')];
    const { json } = await cli(['simulate', '--scenario', path, ...options, '-o', 'json']);
    // Without a campaign there is no proof of play.
    expect(json).toMatchObject({
      faults: [{ rule: 'duplicate:events:100%' }],
      reconciliation: { findings: [] },
    });
    expect(json.repeatedBatches).toBeGreaterThan(0);
    const devices = (await management.call('listDevices', { query: { state: 'bound' } })).items;
    expect(devices.map(({ deviceInfo }) => deviceInfo.manufacturer)).toEqual([
      'LG Electronics',
      'LG Electronics',
    ]);
    expect(new Set(devices.map(({ deviceInfo }) => deviceInfo.macAddress)).size).toBe(2);
    for (const { screenId } of devices)
      await management.call('deleteScreen', { params: { id: screenId }, query: { force: 'true' } });
  });

  it('continues with the TVs of a --keep folder', async () => {
    const kept = ['--keep', join(folder, 'again'), '--venue', 'Kept', '-o', 'json'];
    const [first, second] = [await cli([...quick, ...kept]), await cli([...quick, ...kept])];
    expect([first.code, second.code]).toEqual([0, 0]);
    const registrations = ({ json }: typeof first) =>
      json.endpoints.find((one: { operation: string }) => one.operation === 'registerDevice')
        ?.requests ?? 0;
    expect([registrations(first), registrations(second)]).toEqual([2, 0]);
    expect(await readFile(join(folder, 'again', 'fleet.json'), 'utf8')).toContain('"runs":2');
  });

  it('pairs with codes from a file without a token, and says that it compared nothing', async () => {
    const codes = [(await service.code()).code, (await service.code()).code.toLowerCase()];
    const path = await file(
      'codes.txt',
      `# two of them\n${codes[0]!.slice(0, 4)} ${codes[0]!.slice(4)}\n\n${codes[1]}\n`,
    );
    const argv = ['simulate', '--codes', path, '--life', '10m', '--speed', 'max'];
    const run = await runCli(argv, { env: { SIGNAGE_URL: service.url } });
    const { code, stdout, stderr } = run;
    expect(code).toBe(0);
    expect(stdout).toMatch(/TVs +2 of 2 bound\n/);
    expect(stdout).toMatch(/Compared +skipped: There is no management token/);
    expect(stderr).toContain('2 simulated TVs stay on the screens of their codes');
  });

  it('ends with 9 when TVs find no valid code', async () => {
    const path = await file('used.txt', `${(await service.tv()).code}\n`);
    const argv = ['simulate', '--codes', path, '--life', '10m', '--speed', 'max'];
    const { code, stdout } = await cli(argv);
    expect(code).toBe(9);
    expect(stdout).toMatch(/TVs +0 of 1 bound, 1 without a valid code\n/);
    expect(stdout).toMatch(/pairing_code_used +1 /);
  });

  it('ends with 9 when the service lost events, and says so', async () => {
    const planted = await serveWithDefect('acknowledges before storing, and loses');
    const { code, stdout } = await cliOf(planted, adminToken)(quick);
    expect(code).toBe(9);
    expect(stdout).toContain('ERRORS FOUND');
    expect(stdout).toMatch(
      /VIOLATION +TIMES +MESSAGE\nevents_lost +\d+ +An event of the device \S+ was acknowledged/,
    );
  });

  it('shows progress in one line at a terminal, and erases it', async () => {
    const argv = ['simulate', '--count', '2', '--duration', '2s', '--speed', '600'];
    const { stderr, stdout } = await cli(argv, { tty: true });
    expect(stderr).toMatch(
      /2 playing \| events \d+ made, \d+ acknowledged, \d+ queued \| \d+ requests\/s, p/,
    );
    expect(stderr).not.toContain('\n');
    for (const line of stderr.split('\r\u001b[K')) expect(line.length).toBeLessThan(80);
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
    expect(stdout).not.toContain('requests/s');
  });

  it('ends at SIGINT with 130 and the report so far, and deletes its records', async () => {
    const argv = ['simulate', '--count', '20', '--venue', 'Cut short', '--speed', '600'];
    const during = stopAfter(/[1-9]\d* acknowledged/);
    const run = await cli([...argv, '-o', 'json'], { tty: true, during });
    expect(run.code).toBe(130);
    expect(run.json).toMatchObject({ isInterrupted: true, tvs: { count: 20 } });
    expect(run.json.events.acknowledged).toBeGreaterThan(0);
    expect(await venues()).not.toContain('Cut short');
  });

  it('ends with 7 for an unreachable service, and with 4 for an insufficient or missing token', async () => {
    const away = await cli([...quick, '--url', 'http://127.0.0.1:1']);
    expect([away.code, away.stdout]).toEqual([7, '']);
    expect(away.stderr).toContain('Cannot reach http://127.0.0.1:1');
    const wrong = await cli(quick, { env: { SIGNAGE_TOKEN: `mak_${'w'.repeat(49)}` } });
    expect(wrong.code).toBe(4);
    expect(wrong.stderr).not.toContain('www');
    const none = await runCli(quick, { env: { SIGNAGE_URL: service.url } });
    expect(none.code).toBe(4);
    expect(none.stderr).toContain('SIGNAGE_TOKEN');
  });
});
