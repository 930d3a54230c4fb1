// How the built command line starts: what it tells at once, and what it loads for that.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { runFastPath } from '../../src/cli/command/fast-path.ts';
import { loadCommand } from '../../src/cli/command/load.ts';
import { commandPaths, tree } from '../../src/cli/command/tree.ts';
import { runCli } from '../cli/run-cli.ts';
import { fakeIo } from '../support/fake-io.ts';
import { adminToken, startService } from '../support/service.ts';
import { checkout, endProcesses, startProcess } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fromBuild = createRequire(join(checkout, 'dist/cli/'));
const { version } = createRequire(checkout)('./package.json') as { version: string };

afterEach(endProcesses);

/**
 * Runs the built program; answers what it said, and the files of code that it loaded: Node's own
 * account of what was covered.
 */
async function started(argv: readonly string[], env: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const signage = startProcess(['bin/signage.js', ...argv], {
    env: { ...env, NODE_V8_COVERAGE: folder },
  });
  const code = await signage.ended;
  const reports = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] },
  );
  const urls = reports
    .flatMap(({ result }) => result.map(({ url }) => url))
    .filter((url) => url.startsWith('file:'));
  return {
    code,
    out: signage.out(),
    err: signage.err(),
    loaded: urls.map((url) => relative(checkout, fileURLToPath(url))),
  };
}

const first = ['bin/signage.js', 'dist/cli/fast-path.cjs'];

describe('the built signage', () => {
  it.each([
    [['--version']],
    [['--help']],
    [['venue', '--help']],
    [['venue', 'create', '--help']],
    [['serve', '-h']],
    [['completion', 'bash']],
  ])('%j loads two files, and no package', async (argv) => {
    const { code, stdout } = await runCli(argv);
    expect(await started(argv)).toEqual({ code, out: stdout, err: '', loaded: first });
  });

  it('without a command shows help on stderr, and ends with 2', async () => {
    const { code, out, err, loaded } = await started([]);
    expect({ code, out, loaded }).toEqual({ code: 2, out: '', loaded: first });
    expect(err).toContain('Usage: signage');
  });

  const packagesOf = (loaded: readonly string[]) => [
    ...new Set(
      loaded.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
    ),
  ];

  it('loads few files to run a command that asks no service, and no package but commander', async () => {
    const { code, out, err, loaded } = await started(['context', 'list', '-o', 'json'], {
      XDG_CONFIG_HOME: await temporaryFolder(),
    });
    expect({ code, out, err }).toEqual({ code: 0, out: '[]\n', err: '' });
    expect(packagesOf(loaded)).toEqual(['commander']);
    const own = loaded.filter((file) => !file.includes('node_modules/'));
    expect(own).toEqual(
      expect.arrayContaining([...first, 'dist/cli/program.js', 'dist/cli/context-list.js']),
    );
    expect(own.length).toBeLessThan(10);
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
        packages: ['commander'],
      });
    }
    await service.venue({ name: '東京' });
    const { out, loaded } = await started(['venue', 'list'], env);
    expect(packagesOf(loaded)).toContain('string-width');
    expect(out).toContain('東京');
  });

  it('completes a line without any package', async () => {
    const { code, out, err, loaded } = await started([
      'completion',
      'bash',
      '--',
      'signage venue l',
    ]);
    expect({ code, out, err }).toEqual({ code: 0, out: 'list\n', err: '' });
    expect(packagesOf(loaded)).toEqual([]);
  });
});

describe('what the build writes down', () => {
  const built = fromBuild('./fast-path.cjs') as { runFastPath: typeof runFastPath };
  const described = fromBuild('./commands.json');

  it('is each command, as it describes itself', async () => {
    const all = await Promise.all(
      commandPaths.map(async (path) => [path.join(' '), await loadCommand(path)] as const),
    );
    expect(described).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(all))));
  });

  it('makes the same help of all of them', async () => {
    const facts = {
      version: () => version,
      describe: (path: readonly unknown[]) => described[path.join(' ')],
    };
    for (const argv of [
      [],
      ['-V'],
      ...tree.map(({ name }) => [name, '-h']),
      ...commandPaths.map((path) => [...path, '-h']),
    ] as string[][]) {
      const io = fakeIo();
      const code = await built.runFastPath(argv, io, facts);
      const { stdout, stderr, code: expected } = await runCli(argv);
      expect({ code, stdout: io.out(), stderr: io.err() }, argv.join(' ')).toEqual({
        code: expected,
        stdout,
        stderr,
      });
    }
  });
});
