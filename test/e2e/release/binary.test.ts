// The self-contained executable: built, and run without Node.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  binaryNodeVersion,
  buildBinary,
  needsNewerNode,
  runBinaryBuild,
} from '../../support/process/binary.ts';
import { checkout } from '../../support/process/signage-process.ts';
import { testStandalone } from './standalone.ts';

const hasStrip = !spawnSync('strip', ['--version']).error;

describe.skipIf(needsNewerNode)(
  `npm run binary with Node ${binaryNodeVersion} (needs Node 22: run on it, or set SIGNAGE_BINARY_NODE)`,
  () => {
    let binary: string;
    beforeAll(async () => {
      binary = join(await temporaryFolder(), 'signage');
      buildBinary(binary);
    }, 180_000);

    testStandalone(() => binary, true);

    it('has the licences of its packages beside it', () => {
      const licences = readFileSync(`${binary}.licenses.txt`, 'utf8');
      for (const name of ['signage-kit', 'pg', 'zod', 'mediabunny', 'swagger-ui-dist', 'Node.js'])
        expect(licences).toMatch(new RegExp(`^${name}\\b`, 'm'));
    });

    it.skipIf(!hasStrip || !binaryNodeVersion.startsWith('v22.'))(
      'is at most 120 MB (Node 22, strip)',
      () => {
        expect(statSync(binary).size).toBeLessThanOrEqual(120e6);
      },
    );
  },
);

describe.skipIf(!process.version.startsWith('v20.'))('npm run binary on Node 20', () => {
  it('says that it needs Node 22, and what to do', () => {
    const { status, stderr } = runBinaryBuild([]);
    expect(status).toBe(1);
    expect(stderr).toContain('needs Node 22 or newer');
    expect(stderr).toContain('npm run portable');
  });
});

describe('the bundle of the executable', () => {
  it('looks for no build beside it', async () => {
    const bundle = join(await temporaryFolder(), 'signage.cjs');
    const maker = pathToFileURL(join(checkout, 'scripts/release/bundle-executable.js'));
    await (await import(maker.href)).bundleExecutable(bundle);
    const { stderr } = spawnSync(process.execPath, [bundle, '--version'], { encoding: 'utf8' });
    // Its own code runs, and misses the assets of the executable.
    expect(stderr).toContain('ERR_NOT_IN_SINGLE_EXECUTABLE_APPLICATION');
  });
});
