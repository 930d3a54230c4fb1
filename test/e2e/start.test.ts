// How the built command line starts: what it prints, and which files it loads for that.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout, endProcesses, startProcess } from '../support/process/signage-process.ts';
import { adminToken, startService } from '../support/service/service.ts';

afterEach(endProcesses);

/** Returns the files of code that a process loaded, by Node's own account of what was covered. */
function loadedFiles(folder: string): string[] {
  const reports = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] },
  );
  const urls = reports
    .flatMap(({ result }) => result.map(({ url }) => url))
    .filter((url) => url.startsWith('file:'));
  return urls.map((url) => relative(checkout, fileURLToPath(url)));
}

/** Runs the built program. Returns its output, and the files of code that it loaded. */
async function started(argv: readonly string[], env: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const signage = startProcess(['bin/signage.js', ...argv], {
    env: { ...env, NODE_V8_COVERAGE: folder },
  });
  const code = await signage.ended;
  return { code, out: signage.out(), err: signage.err(), loaded: loadedFiles(folder) };
}

/** Returns the packages that were loaded. zod is a file of the bundle. */
const packagesOf = (loaded: readonly string[]) => [
  ...new Set(
    loaded.flatMap((file) =>
      file === 'dist/cli/zod.js'
        ? 'zod'
        : (/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
    ),
  ),
];
const own = (loaded: readonly string[]) => loaded.filter((file) => !file.includes('node_modules/'));

describe('the built signage', () => {
  it.each([
    [['--version'], 10],
    [['--help'], 10],
    [['venue', '--help'], 10],
    [['venue', 'create', '--help'], 10],
    [['serve', '-h'], 10],
    [['completion', 'bash'], 10],
    [['completion', 'bash', '--', 'signage venue l'], 12],
    [['context', 'list', '-o', 'json'], 10],
  ])('%j loads at most %i files, and no package', async (argv, maxFiles) => {
    const { code, stdout } = await runCli(argv);
    const { loaded, ...run } = await started(argv, { XDG_CONFIG_HOME: await temporaryFolder() });
    expect(run).toEqual({ code, out: stdout, err: '' });
    expect(own(loaded)).toEqual(expect.arrayContaining(['bin/signage.js', 'dist/cli/main.js']));
    expect(packagesOf(loaded)).toEqual([]);
    expect(own(loaded).length).toBeLessThanOrEqual(maxFiles);
  });

  it('ends with 1 if nothing is left to do, but the command has not ended', async () => {
    const folder = await temporaryFolder();
    cpSync(join(checkout, 'bin'), join(folder, 'bin'), { recursive: true });
    mkdirSync(join(folder, 'dist/cli'), { recursive: true });
    writeFileSync(
      join(folder, 'dist/cli/main.js'),
      'export const processIo = () => {}; export const main = () => new Promise(() => {});',
    );
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    expect(await startProcess([join(folder, 'bin/signage.js')]).ended).toBe(1);
  });

  it.each([
    ['SIGNAGE_DATA="DATA"', 'SIGNAGE_DATA has quotes around its value'],
    ["SIGNAGE_MEDIA='DATA/media'", 'SIGNAGE_MEDIA has quotes around its value'],
    ['SIGNAGE_DATA=DATA\r', 'SIGNAGE_DATA has a carriage return'],
    ['SIGNAGE_PORT="0"', 'SIGNAGE_PORT has quotes around its value'],
  ])('2 for an environment file of Docker with %j, and makes no folder', async (line, message) => {
    const folder = await temporaryFolder();
    // Docker takes everything after the equals sign, up to the line feed.
    const file = `SIGNAGE_HOST=127.0.0.1\n${line}\n`;
    const env = Object.fromEntries(
      file
        .split('\n')
        .filter(Boolean)
        .map((one) => one.replace(/=(.*)DATA/s, `=$1${folder}/data`).split(/=(.*)/s, 2)),
    );
    const service = startProcess([join(checkout, 'bin/signage.js'), 'serve'], { cwd: folder, env });
    expect(await service.ended).toBe(2);
    expect(service.err()).toContain(`signage: ${message}.`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('loads no package to start the service on plain files', async () => {
    const data = join(await temporaryFolder(), 'data');
    const folder = await temporaryFolder();
    const service = startProcess(['bin/signage.js', 'serve', '--port', '0', '--data', data], {
      env: { NODE_V8_COVERAGE: folder },
    });
    await service.until(/The service is ready/);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    const loaded = loadedFiles(folder);
    expect(packagesOf(loaded)).toEqual(['zod']);
    expect(loaded.length).toBeLessThanOrEqual(50);
  });

  it('loads no other package to ask the service and show a table of plain text', async () => {
    const service = await startService();
    const env = {
      SIGNAGE_URL: service.url,
      SIGNAGE_TOKEN: adminToken,
      XDG_CONFIG_HOME: await temporaryFolder(),
    };
    await service.venue({ name: 'Lobby' });
    for (const argv of [['whoami'], ['venue', 'list']]) {
      const { code, err, loaded } = await started(argv, env);
      expect({ code, err, packages: packagesOf(loaded) }, argv.join(' ')).toEqual({
        code: 0,
        err: '',
        packages: [],
      });
    }
    await service.venue({ name: '東京' });
    const { out, loaded } = await started(['venue', 'list'], env);
    expect(packagesOf(loaded)).toContain('string-width');
    expect(out).toContain('東京');
  });
});
