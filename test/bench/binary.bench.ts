// Start of the self-contained executable. On Node 20, set SIGNAGE_BINARY_NODE to a newer Node.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import {
  binaryNode,
  binaryNodeVersion,
  buildBinary,
  needsNewerNode,
} from '../support/process/binary.ts';
import { median, summary } from './measure.ts';

const rounds = 25;
const bar = 2;

function timed(program: string, argv: readonly string[]): number {
  const start = performance.now();
  execFileSync(program, argv);
  return performance.now() - start;
}

it.skipIf(needsNewerNode)(
  'start of the executable, as a multiple of node -e 0 (needs Node 22)',
  async () => {
    const binary = join(await temporaryFolder(), 'signage');
    buildBinary(binary);
    const bare: number[] = [];
    const version: number[] = [];
    // They alternate, so that other programs disturb both alike.
    for (let round = -1; round < rounds; round++) {
      const bareMs = timed(binaryNode, ['-e', '0']);
      const versionMs = timed(binary, ['--version']);
      if (round < 0) continue;
      bare.push(bareMs);
      version.push(versionMs);
    }
    const times = median(version) / median(bare);
    const verdict = times <= bar ? 'met' : 'MISSED';
    console.log(`node -e 0, ${binaryNodeVersion}: ${summary(bare)} ms`);
    console.log(
      `executable --version: ${times.toFixed(2)}× (bar: ${bar}×, ${verdict}), ${summary(version)} ms`,
    );
  },
);
