// What others' tools make of the OpenAPI document: linters, and generators of clients.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { adminToken, startService } from '../support/service/service.ts';

const run = promisify(execFile);
const programs = fileURLToPath(new URL('../fixtures/generated-clients', import.meta.url));
let folder: string;
let isOffline = false;

/** Runs a program of the folder, and returns what it prints. */
async function runHere(file: string, ...args: string[]): Promise<string> {
  const argv = [join(folder, file), ...args];
  const { stdout } = await run(process.execPath, argv, { cwd: folder }).catch((error) => {
    throw new Error(`${file}: ${error.stdout}${error.stderr}`);
  });
  return stdout;
}

/**
 * Installs the tools once for each version of their lock file, and returns the folder. They need a
 * TypeScript with a JavaScript API, so they have a lock file of their own.
 */
async function installTools(): Promise<string> {
  const lock = await readFile(join(programs, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const cache = join(checkout, 'node_modules/.cache');
  const tools = join(cache, `generated-clients-${version}`);
  if (existsSync(tools)) return tools;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'installing-'));
  try {
    for (const name of ['package.json', 'package-lock.json'])
      await cp(join(programs, name), join(fresh, name));
    await cp(join(checkout, '.npmrc'), join(fresh, '.npmrc'));
    await run('npm', ['ci', '--prefer-offline'], { cwd: fresh });
    await rename(fresh, tools);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return tools;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  await cp(programs, folder, { recursive: true });
  const tools = await installTools().catch((error) => {
    isOffline = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/.test(error.stderr);
    if (!isOffline || process.env.CI) throw error;
  });
  if (!tools) return;
  await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'));
  const service = await startService();
  const { text } = await service.send('GET', '/openapi.json');
  await writeFile(join(folder, 'openapi.json'), text);
}, 300_000);

beforeEach((test) => test.skip(isOffline, 'the package registry cannot be reached'));

it('has no problem by the strictest rules of Redocly', async () => {
  expect(JSON.parse(await runHere('lint.mjs'))).toEqual([]);
}, 180_000);

it('has no problem by the OpenAPI rules of Spectral', async () => {
  const spectral = 'node_modules/@stoplight/spectral-cli/dist/index.js';
  const options = ['--ruleset', 'spectral.yaml', '--format', 'json', '--quiet'];
  expect(JSON.parse(await runHere(spectral, 'lint', 'openapi.json', ...options))).toEqual([]);
}, 180_000);

it.each([
  {
    program: 'with-openapi-fetch',
    generate: ['node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'openapi.d.ts'],
  },
  {
    program: 'with-hey-api',
    generate: ['node_modules/@hey-api/openapi-ts/bin/run.js', '-f', 'openapi-ts.config.mjs'],
  },
])(
  'compiles and runs a program with a generated client: $program',
  async ({ program, generate }) => {
    const [generator = '', ...args] = generate;
    await runHere(generator, ...args);
    await runHere('node_modules/typescript/bin/tsc', '-p', `tsconfig.${program}.json`);
    const { url } = await startService();
    const printed = JSON.parse(await runHere(`built/${program}.js`, url, adminToken));
    expect(printed).toEqual({ received: 2, online: 1, fit: 'cover', uptime: 60 });
  },
  180_000,
);
