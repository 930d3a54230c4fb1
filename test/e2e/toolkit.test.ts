// Packs the package, installs it into an empty folder, compiles a program against it, and runs it.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compile, installPackage, resolutions } from '../support/installed-package.ts';
import { endProcesses, startProcess } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A user's program: pairs a TV with one of two services, and prints the results. */
const program = `
import { inspect } from 'node:util';
import { type CallAnswer, hasCode, ManagementClient, openStore, Player, type Running, RuntimeClient, runFleet, serve, SignageError, type FleetReport } from 'signage-kit';

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

afterEach(endProcesses);

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
  let folder: string;
  let tarball: string;
  let packed: string[];

  beforeAll(async () => {
    ({ folder, tarball, packed } = await installPackage());
  }, 180_000);

  it('has entry points that every resolver and type checker finds', async () => {
    const bytes = await readFile(tarball);
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

  it('contains the files to run, and no tests or tools', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'bin/package.json',
        'bin/signage.js',
        'dist/index.js',
        'dist/index.d.ts',
        'dist/cli/main.js',
        'fixtures/demo.json',
      ]),
    );
    expect(
      packed.filter(
        (path) =>
          !/^(bin|dist|fixtures|docs)\/|^(package\.json|LICENSE|README\.md|CHANGELOG\.md)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
  });

  it('type-checks and runs from TypeScript: services, clients, a TV and a fleet', {
    timeout: 120_000,
  }, async () => {
    await writeFile(join(folder, 'program.ts'), program);
    for (const resolution of resolutions)
      expect(await compile(folder, ['program.ts'], resolution)).toBe('');
    const built = startProcess(['out-nodenext/program.js'], {
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

  it('runs as a command: signage serve --demo', { timeout: 60_000 }, async () => {
    const service = startProcess(
      ['node_modules/.bin/signage', 'serve', '--demo', '--port', '0', '--data', 'data'],
      { cwd: folder },
    );
    const [url] = await service.until(/http:\/\/127\.0\.0\.1:\d+/);
    await service.until(/Window +impression/);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    expect((await fetch(`${url}/media/welcome.svg`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
