// Packs the package, installs it into an empty folder once, and uses it like a user: its files and
// types, a program against it, and the programs of the pages.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import pLimit from 'p-limit';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { samplePlaylist } from '../../src/testing/fixtures.ts';
import { startService } from '../../src/testing/start-service.ts';
import { chromiumPath, needsChromium, openTvPage } from '../support/browser/chromium.ts';
import { folderBytes } from '../support/disk/folder-bytes.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import {
  compile,
  type InstalledPackage,
  installPackage,
  installTypeScript,
} from '../support/process/installed-package.ts';
import { checkout, endProcesses, startProcess } from '../support/process/signage-process.ts';

const run = promisify(execFile);
const maxBytes = 2.7e6;

/** A user's program: pairs a TV with one of two services, and prints the results. */
const program = `
import { inspect } from 'node:util';
import type {} from 'signage-kit/conformance';
import { type CallAnswer, hasCode, ManagementClient, RuntimeClient, SignageError } from 'signage-kit/client';
import { openStore, type Running, serve } from 'signage-kit';
import { type FleetReport, Player, runFleet } from 'signage-kit/simulator';

const services: Running[] = await Promise.all([serve({ port: 0, store: 'memory:' }), serve({ port: 0, store: 'memory:' })]);
const [one, two] = services;
if (!one?.adminToken || !two?.adminToken) throw new Error('no token');
const management = new ManagementClient({ url: one.url, token: one.adminToken });
const venue = await management.call('createVenue', { body: { name: 'Lobby' } });
const screen: CallAnswer<'createScreen'> = await management.call('createScreen', { body: { venueId: venue.id, name: 'Wall' } });
const { code } = await management.call('createCode', { body: { screenId: screen.id } });
const tv = new Player({ client: new RuntimeClient({ url: one.url }), deviceInfo: { model: 'TV' } });
await tv.register(code);
tv.report({ type: 'heartbeat', timestamp: Math.floor(Date.now() / 1000) });
const acknowledged: number = await tv.flush();
const types: unknown[] = [];
for await (const { event } of management.all('listEvents', { query: { deviceId: tv.state.deviceId } })) types.push(event.type);
// @ts-expect-error: an operation that is not there
const wrong = () => management.call('createVenues', {});
// @ts-expect-error: an error code that is not there
const mistyped = (error: unknown) => hasCode(error, 'credential_invalide');
// @ts-expect-error: no code is like that
const never = (error: SignageError) => error.code === 'credential_invalide';
// @ts-expect-error: a venue has a name
const nameless = () => management.call('createVenue', { body: {} });
const fleet: FleetReport = await runFleet({ url: two.url, token: two.adminToken, venue: 'Fleet', count: 2, speed: Infinity, lifeMs: 3_600_000, seed: 'one' });
const refused = await new ManagementClient({ url: two.url, token: one.adminToken }).call('getMe').catch((error: unknown) => error);
const store = await openStore('memory:', {});
await store.close();
const mounted = await one.fetch(new Request('http://any/healthz'));
await Promise.all(services.map((service) => service.close()));
const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'].reduce((sum, name) => sum + process.listenerCount(name), 0);
process.stdout.write(JSON.stringify({
  acknowledged, types, failures: fleet.failures, bound: fleet.tvs.bound, same: fleet.events.acknowledged === fleet.events.made && fleet.events.made > 100, findings: fleet.reconciliation.findings, mounted: mounted.status, listeners,
  refused: refused instanceof SignageError && hasCode(refused, 'credential_invalid'),
  shown: inspect(management, { depth: 9 }).includes(one.adminToken), unused: [typeof wrong, typeof nameless, typeof mistyped, typeof never].length,
}));
`;

const everyEntry = ['', '/browser', '/client', '/simulator', '/conformance', '/testing']
  .map((entry, index) => `export * as entry${index} from 'signage-kit${entry}';\n`)
  .join('');

afterEach(endProcesses);

let installed: InstalledPackage;
let folder: string;
beforeAll(async () => {
  installed = await installPackage();
  ({ folder } = installed);
}, 180_000);

/** Returns the URLs of the files that a process loaded, from its coverage reports. */
async function loadedFiles(coverage: string): Promise<string[]> {
  const files = await readdir(coverage);
  const reports = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(join(coverage, file), 'utf8'))),
  );
  return reports.flatMap(({ result }: { result: { url: string }[] }) =>
    result.map(({ url }) => url),
  );
}

describe('the package', () => {
  it('has entry points that every resolver and type checker finds', async () => {
    const bytes = await readFile(installed.tarball);
    const pack = { tarball: new Uint8Array(bytes).buffer };
    expect((await publint({ pack })).messages).toEqual([]);
    const checked = await checkPackage(createPackageFromTarballData(bytes));
    // The package has ES modules only: `require` and the resolution of Node 10 are not supported.
    const unsupported = ['node10', 'node16-cjs'];
    const problems = checked.types === false ? ['no types'] : checked.problems;
    const serious = problems.filter(
      (one) =>
        typeof one === 'string' ||
        !('resolutionKind' in one && unsupported.includes(one.resolutionKind)),
    );
    expect(serious).toEqual([]);
  });

  it('has these files and folders', () => {
    const places = new Set(installed.packed.map((path) => path.match(/^(fixtures\/)?[^/]+/)?.[0]));
    expect([...places].sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'dist',
      'docs',
      'fixtures/demo.json',
      'fixtures/devices',
      'fixtures/events',
      'fixtures/media',
      'fixtures/on-demand-source',
      'fixtures/playlists',
      'fixtures/scenarios',
      'fixtures/schedules',
      'fixtures/sites',
      'fixtures/upcoming',
      'package.json',
    ]);
  });

  // The pictures take 60 KB, and npm shows those of the repository.
  it('has all that its pages link to, except pictures', async () => {
    const pages = installed.packed.filter((path) => path.endsWith('.md'));
    const missing = pages.flatMap((page) => {
      const text = readFileSync(join(checkout, page), 'utf8');
      const links = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link);
      const paths = links
        .filter((link) => !/^[a-z]+:|\.webp$/.test(link))
        .map((link) => join(dirname(page), link));
      return paths.filter(
        (path) => !installed.packed.some((one) => one === path || one.startsWith(`${path}/`)),
      );
    });
    expect(missing).toEqual([]);
  });

  it('exports its fixtures', () => {
    const resolve = createRequire(join(folder, 'package.json')).resolve;
    expect(resolve('signage-kit/fixtures/demo.json')).toMatch(/signage-kit\/fixtures\/demo\.json$/);
  });

  it('is not packed from a checkout without a build, and its program says what to do', async () => {
    const unbuilt = await temporaryFolder();
    for (const path of ['.npmrc', 'package.json', 'bin'])
      await cp(join(checkout, path), join(unbuilt, path), { recursive: true });
    const packed = run('npm', ['pack', '--ignore-scripts'], { cwd: unbuilt });
    await expect(packed).rejects.toMatchObject({
      stderr: expect.stringMatching(/no such file.*dist/),
    });
    const started = startProcess(['bin/signage.js', 'serve'], { cwd: unbuilt });
    expect(await started.ended).toBe(1);
    expect(started.err()).toBe(
      'signage: this checkout is not built. Run: npm ci && npm run build\n',
    );
  });

  it('has the files that the program reads besides its code', () => {
    expect(installed.packed).toEqual(
      expect.arrayContaining([
        'dist/cli/commands/completion/scripts/signage.bash',
        'dist/examination/licenses.txt',
        'dist/examination/worker.cjs',
        'dist/http/docs/index.html',
        'dist/http/docs/swagger-ui-bundle.js',
        'dist/http/docs/swagger-ui.LICENSE.txt',
        'dist/store/postgres/schema/schema.sql',
        'dist/web/idb.LICENSE.txt',
        'dist/web/index.html',
        'dist/web/sw.js',
      ]),
    );
  });

  it('has no source maps, and no references to them', () => {
    expect(installed.packed.filter((path) => path.endsWith('.map'))).toEqual([]);
    const modules = installed.packed.filter(
      (path) => /^dist\/.*\.js$/.test(path) && !path.includes('swagger'),
    );
    const referring = modules.filter((path) =>
      readFileSync(join(checkout, path), 'utf8').includes('//# sourceMappingURL'),
    );
    expect(referring).toEqual([]);
  });

  it('has no module that nothing names', () => {
    const modules = installed.packed.filter((path) => /^dist\/.*\.[jt]s$/.test(path));
    const namers = new Map<string, string[]>();
    for (const path of ['bin/signage.js', 'package.json', ...modules]) {
      const text = readFileSync(join(checkout, path), 'utf8');
      const names = new Set([...text.matchAll(/\/([\w-]+)\./g)].map(([, name = '']) => name));
      for (const name of names) namers.set(name, [...(namers.get(name) ?? []), path]);
    }
    const isNamed = (path: string) => {
      const name = basename(path).replace(/(\.d)?\.[jt]s$/, '');
      return namers.get(name)?.some((one) => one !== path);
    };
    const page = /^dist\/(?:http\/docs|web)\//;
    expect(modules.filter((path) => !page.test(path) && !isNamed(path))).toEqual([]);
  });

  it('has the licences of the packages whose code is in the command line', () => {
    const texts = readFileSync(join(checkout, 'dist/cli/licenses.txt'), 'utf8');
    const names = [...texts.matchAll(/^(\S+) [\d.]+: licen[cs]e/gim)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['commander', 'hono', 'zod']));
  });

  it(`is at most ${maxBytes / 1e6} MB`, async () => {
    expect((await stat(installed.tarball)).size).toBeLessThanOrEqual(maxBytes);
  });

  it('has about the sizes that docs/install.md gives', async () => {
    const page = await readFile(join(checkout, 'docs/install.md'), 'utf8');
    const stated = /([\d.]+) MB, and ([\d.]+) MB of dependencies/.exec(page)!.slice(1).map(Number);
    const modules = join(folder, 'node_modules');
    const own = await folderBytes(join(modules, 'signage-kit'));
    const sizes = [(await stat(installed.tarball)).size, (await folderBytes(modules)) - own];
    const ratios = sizes.map((bytes, index) => bytes / 1e6 / stated[index]!);
    for (const ratio of ratios) expect(Math.abs(ratio - 1), `${sizes}`).toBeLessThan(0.1);
  });

  it('type-checks and runs from TypeScript: services, clients, a TV and a fleet', {
    timeout: 120_000,
  }, async () => {
    await writeFile(join(folder, 'program.ts'), program);
    expect(await compile(folder, ['program.ts'])).toBe('');
    const built = startProcess(['out/program.js'], {
      cwd: folder,
      env: { SIGNAGE_PORT: '1', SIGNAGE_ADMIN_TOKEN: 'not-read' },
    });
    expect(await built.ended).toBe(0);
    expect(built.err()).toBe('');
    expect(JSON.parse(built.out())).toEqual({
      acknowledged: 1,
      types: ['heartbeat'],
      failures: [],
      bound: 2,
      same: true,
      findings: [],
      mounted: 200,
      listeners: 0,
      refused: true,
      shown: false,
      unused: 4,
    });
  });

  describe('with TypeScript 5.9 and 7', () => {
    let former: string;
    beforeAll(async () => {
      former = await installTypeScript('5.9.3');
      await writeFile(join(folder, 'empty.ts'), 'export {};\n');
      await writeFile(join(folder, 'entries.ts'), everyEntry);
      await writeFile(join(folder, 'browser.ts'), `export * from 'signage-kit/browser';\n`);
    }, 120_000);
    const compilers = () => [undefined, join(former, 'bin/tsc')];

    it.each<[string, string, object]>([
      ['an empty program', 'empty.ts', { lib: undefined }],
      ['all entry points', 'entries.ts', { lib: ['es2022', 'esnext.disposable'] }],
      ['all entry points', 'entries.ts', { lib: ['esnext', 'dom'] }],
      ['the browser’s, without the types of Node', 'browser.ts', { lib: undefined, types: [] }],
    ])('compiles %s (%s, %o)', { timeout: 120_000 }, async (_what, file, options) => {
      for (const compiler of compilers())
        expect(await compile(folder, [file], { ...options, noEmit: true }, compiler)).toBe('');
    });

    it('shows editors what members mean', { timeout: 60_000 }, async () => {
      const { default: ts } = await import(pathToFileURL(join(former, 'lib/typescript.js')).href);
      const text = `import { ManagementClient } from 'signage-kit/client';
        const management = new ManagementClient({ url: '', token: '' });
        const { validUntil } = await management.call('readPlaylist', { params: { id: '' } });`;
      const file = join(folder, 'hover.ts');
      await writeFile(file, text);
      const { sys } = ts;
      const service = ts.createLanguageService({
        ...sys,
        useCaseSensitiveFileNames: () => true,
        getScriptFileNames: () => [file],
        getScriptVersion: () => '1',
        getScriptSnapshot: (path: string) =>
          sys.fileExists(path) ? ts.ScriptSnapshot.fromString(sys.readFile(path)) : undefined,
        getCurrentDirectory: () => folder,
        getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, strict: true }),
        getDefaultLibFileName: ts.getDefaultLibFilePath,
      });
      const hover = service.getQuickInfoAtPosition(file, text.indexOf('validUntil'));
      expect(ts.displayPartsToString(hover.documentation)).toBe('Unix epoch seconds');
      const declared = readFileSync(
        join(folder, 'node_modules/signage-kit/dist/wire/operations/operations.d.ts'),
        'utf8',
      );
      expect(declared).toContain('/** Create a venue: `POST /v1/venues`. */\n    createVenue: {');
    });
  });

  it('has a client that loads little, and bundles small', async () => {
    const text = `import { ManagementClient } from 'signage-kit/client';
      const client = new ManagementClient({ url: 'http://127.0.0.1:1', token: 'mak_none', retry: { attempts: 1 } });
      await client.call('getMe').catch((error) => process.stdout.write(error.code));`;
    await writeFile(join(folder, 'client.js'), text);
    const bundle = await rolldown({
      input: join(folder, 'client.js'),
      cwd: folder,
      platform: 'node',
    });
    const { output } = await bundle.write({ dir: join(folder, 'bundled'), minify: true });
    const bytes = output.reduce((sum, file) => sum + ('code' in file ? file.code.length : 0), 0);
    expect(bytes).toBeLessThan(600_000);
    for (const file of ['client.js', 'bundled/client.js']) {
      const coverage = await temporaryFolder();
      const run = startProcess([file], { cwd: folder, env: { NODE_V8_COVERAGE: coverage } });
      expect(await run.ended).toBe(0);
      expect([run.out(), run.err()]).toEqual(['unreachable', '']);
      const loaded = await loadedFiles(coverage);
      expect(loaded.filter((url) => url.includes('/signage-kit/dist/')).length).toBeLessThan(120);
    }
  });

  it('says that a server must not be bundled', async () => {
    const text = `import { serve } from 'signage-kit'; await serve({ store: 'memory:', port: 0 });`;
    await writeFile(join(folder, 'server.js'), text);
    const input = join(folder, 'server.js');
    // Optional native parts of its packages stay outside, as bundlers leave them.
    const bundle = await rolldown({ input, cwd: folder, platform: 'node', logLevel: 'silent' });
    await bundle.write({ dir: join(folder, 'bundled-server') });
    const started = startProcess(['bundled-server/server.js'], { cwd: folder });
    expect(await started.ended).toBe(1);
    expect(started.err()).toContain('make signage-kit an external package of the bundle');
  });

  it('runs as a command: signage serve --demo', { timeout: 60_000 }, async () => {
    const service = startProcess(
      ['node_modules/.bin/signage', 'serve', '--demo', '--port', '0', '--data', 'data'],
      { cwd: folder },
    );
    const [url] = await service.until(/http:\/\/127\.0\.0\.1:\d+/);
    await service.until(/Window +impression/);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});

interface Program {
  name: string;
  text: string;
  /** What it prints, from the next block of the page. `undefined`: the page does not say. */
  prints: string | undefined;
}

const examples = ['codes', 'fleet', 'mount', 'own-parts'];

/** An example. The comment at its top says what it prints. */
async function exampleOf(name: string): Promise<Program> {
  const text = await readFile(join(checkout, `docs/examples/${name}.js`), 'utf8');
  const [comment = ''] = text.split(/^(?!\/\/)/m);
  const prints = [...comment.matchAll(/^\/\/ {3}(.*\n)/gm)].map(([, line]) => line).join('');
  return { name: `${name}.js`, text, prints };
}

/** Returns the programs of a page. Their first line names the file; `page` names those without. */
async function programsOf(page: string): Promise<Program[]> {
  const text = await readFile(join(checkout, page), 'utf8');
  const blocks = [...text.matchAll(/^```(ts|text)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, kind, body = ''], index) => {
    if (kind !== 'ts' || !body.includes('import ')) return [];
    const [, named] = /^\/\/ (\S+\.ts)\n/.exec(body) ?? [];
    const [, nextKind, next] = blocks[index + 1] ?? [];
    const name = named ?? `${page.replace(/\W/g, '-')}-${index}.ts`;
    return [{ name, text: body, prints: nextKind === 'text' ? next : undefined }];
  });
}

/** Packages of users that the programs import. */
const others = ['express', '@types/express', 'fastify', 'vitest'];

/** Simulates seven hours where the page simulates a day, which takes three times as long. */
const shortened = (text: string) =>
  text.replace('24 * 60 * 60 * 1000', '7 * 60 * 60 * 1000').replace('shown > 3800', 'shown > 1100');

/** Path of a compiled program in the folder. */
const compiled = (name: string) => join('out', name.replace(/ts$/, 'js'));

const isTest = ({ name }: Program) => name.includes('.test.');

describe('the programs of the pages', () => {
  let programs: Program[];
  let errors: string;

  beforeAll(async () => {
    for (const name of others) {
      const target = join(folder, 'node_modules', name);
      await mkdir(dirname(target), { recursive: true });
      await symlink(join(checkout, 'node_modules', name), target);
    }
    const pages = ['toolkit', 'tv', 'conformance'].map((name) => `docs/${name}.md`);
    programs = (
      await Promise.all(
        [...pages, 'README.md']
          .map(programsOf)
          .concat(examples.map(async (name) => [await exampleOf(name)])),
      )
    ).flat();
    for (const { name, text } of programs) await writeFile(join(folder, name), shortened(text));
    const files = programs.map(({ name }) => name);
    errors = await compile(folder, files, { skipLibCheck: true, checkJs: true });
  }, 180_000);

  it('are all found', () => {
    expect(programs.map(({ name }) => name)).toEqual([
      'tv-app.ts',
      'tv-app.test.ts',
      'tv-page.ts',
      'own-store.test.ts',
      expect.stringContaining('tv'),
      expect.stringContaining('conformance'),
      expect.stringContaining('conformance'),
      expect.stringContaining('README'),
      ...examples.map((name) => `${name}.js`),
    ]);
  });

  it('compile', () => expect(errors).toBe(''));

  it.skipIf(!chromiumPath)(`run in a browser: tv-page.ts${needsChromium}`, async () => {
    const bundle = await rolldown({
      input: join(folder, 'out/tv-page.js'),
      cwd: folder,
      platform: 'browser',
      onLog: (_level, { message }) => {
        throw new Error(message);
      },
    });
    const { output } = await bundle.generate({
      format: 'iife',
      name: 'tvPage',
      codeSplitting: false,
    });
    await using service = await startService({ corsOrigins: ['*'] });
    const code = await service.createCode();
    const { page } = await openTvPage();
    await page.addScriptTag({ content: output[0].code });
    const shown = await page.evaluate(
      ([url, code]) =>
        (
          globalThis as unknown as {
            tvPage: { pairAndFetch(...args: unknown[]): Promise<string[]> };
          }
        ).tvPage.pairAndFetch(url, code),
      [service.url, code],
    );
    expect(shown).toEqual(samplePlaylist.items.map(({ creativeUrl }) => creativeUrl));
  });

  it('run, and print what the page says', { timeout: 300_000 }, async () => {
    const check = async ({ name, prints }: Program) => {
      const { stdout, stderr } = await run(process.execPath, [compiled(name)], {
        cwd: folder,
      });
      expect(stderr, name).toBe('');
      if (prints !== undefined) expect(stdout, name).toBe(prints);
    };
    // Most programs wait most of their time. More of them at once would starve the exam of a TV.
    const atOnce = pLimit(2);
    await atOnce.map(
      programs.filter((one) => !isTest(one)),
      check,
    );
  });

  it('pass, if they are tests', { timeout: 300_000 }, async () => {
    const tests = programs.filter(isTest).map(({ name }) => compiled(name));
    const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
    const argv = [vitest, 'run', '--dir', folder, ...tests];
    const { stdout } = await run(process.execPath, argv, {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/^ ✓ out\/tv-app\.test\.js \(2 tests\)/m);
    expect(stdout).toMatch(/^ ✓ out\/own-store\.test\.js \(\d{3} tests\)/m);
  });
});
