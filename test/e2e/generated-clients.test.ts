// What others' tools make of the OpenAPI document: linters, and generators of clients.
import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { adminToken, startService } from '../support/service.ts';
import { checkout } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

beforeAll(async () => {
  folder = await temporaryFolder();
  await cp(programs, folder, { recursive: true });
  await cp(join(checkout, '.npmrc'), join(folder, '.npmrc'));
  // The tools need a TypeScript with a JavaScript API, so they have a lock file of their own.
  await run('npm', ['ci', '--prefer-offline'], { cwd: folder }).catch((error) => {
    isOffline = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/.test(error.stderr);
    if (!isOffline || process.env.CI) throw error;
  });
  const service = await startService();
  const { text } = await service.send('GET', '/openapi.json');
  await writeFile(join(folder, 'openapi.json'), text);
}, 300_000);

beforeEach((test) => test.skip(isOffline, 'the package registry cannot be reached'));

it('has no problem by the strictest rules of Redocly', async () => {
  expect(JSON.parse(await runHere('lint.mjs'))).toEqual([]);
}, 60_000);

it('has no problem by the OpenAPI rules of Spectral', async () => {
  const lint = [
    'lint',
    'openapi.json',
    '--ruleset',
    'spectral.yaml',
    '--format',
    'json',
    '--quiet',
  ];
  expect(
    JSON.parse(await runHere('node_modules/@stoplight/spectral-cli/dist/index.js', ...lint)),
  ).toEqual([]);
}, 60_000);

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
  120_000,
);
