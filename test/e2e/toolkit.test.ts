// Packs the package, installs it into an empty folder, compiles a program against it, and runs it.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkout, endProcesses, startProcess } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);
const tsc = join(checkout, 'node_modules/typescript/bin/tsc');

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
  shown: inspect(management, { depth: 9 }).includes(one.adminToken), unused: [typeof wrong, typeof nameless].length,
}));
`;

const config = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    outDir: 'out',
    types: ['node'],
    typeRoots: [join(checkout, 'node_modules/@types')],
    skipLibCheck: true,
  },
  include: ['program.ts'],
};

afterEach(endProcesses);

describe('the package', () => {
  let folder: string;
  let packed: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    // Without scripts, because dist/ is built already and other tests run from it.
    const { stdout } = await run(
      'npm',
      ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
      { cwd: checkout },
    );
    const [pack] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    packed = pack!.files.map((file) => file.path);
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ private: true, type: 'module' }),
    );
    await run(
      'npm',
      ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, pack!.filename)],
      { cwd: folder },
    );
  }, 180_000);

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
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) =>
      expect(error.stdout).toBe(''),
    );
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
      unused: 2,
    });
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
