// The self-contained executable: built, and run without Node.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkout } from '../../support/signage-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { testStandalone } from './standalone.ts';

/** Another Node for the executable, for runs of these tests on Node 20. */
const node = process.env.SIGNAGE_BINARY_NODE || process.execPath;
const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
const hasStrip = !spawnSync('strip', ['--version']).error;
const isTooOld = Number(version.slice(1).split('.')[0]) < 22;

const build = (...options: string[]) =>
  spawnSync(process.execPath, ['test/config/release/binary.js', ...options], {
    cwd: checkout,
    encoding: 'utf8',
  });

describe.skipIf(isTooOld)(
  `npm run binary with Node ${version} (needs Node 22: run on it, or set SIGNAGE_BINARY_NODE)`,
  () => {
    let binary: string;
    beforeAll(async () => {
      binary = join(await temporaryFolder(), 'signage');
      const { status, stderr } = build('--node', node, '--out', binary);
      expect(status, stderr).toBe(0);
    }, 180_000);

    testStandalone(() => binary);

    it('has the licences of its packages beside it', () => {
      const licences = readFileSync(`${binary}.licenses.txt`, 'utf8');
      for (const name of ['signage-kit', 'hono', 'pg', 'zod', 'swagger-ui-dist', 'Node.js'])
        expect(licences).toMatch(new RegExp(`^${name}\\b`, 'm'));
    });

    it.skipIf(!hasStrip || !version.startsWith('v22.'))(
      'is at most 120 MB (Node 22, strip)',
      () => {
        expect(statSync(binary).size).toBeLessThanOrEqual(120e6);
      },
    );
  },
);

describe.skipIf(!process.version.startsWith('v20.'))('npm run binary on Node 20', () => {
  it('says that it needs Node 22, and what to do', () => {
    const { status, stderr } = build();
    expect(status).toBe(1);
    expect(stderr).toContain('needs Node 22 or newer');
    expect(stderr).toContain('npm run portable');
  });
});
