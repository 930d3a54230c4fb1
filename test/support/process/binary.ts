import { execFileSync, spawnSync } from 'node:child_process';
import { checkout } from './signage-process.ts';

/** The Node for the self-contained executable: `SIGNAGE_BINARY_NODE`, or the one that runs this. */
export const binaryNode = process.env.SIGNAGE_BINARY_NODE || process.execPath;

/** Such as `v22.23.3`. */
export const binaryNodeVersion = execFileSync(binaryNode, ['--version'], {
  encoding: 'utf8',
}).trim();

export const needsNewerNode = Number(binaryNodeVersion.slice(1).split('.')[0]) < 22;

/** Runs `npm run binary` without npm. */
export const runBinaryBuild = (options: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/release/binary.js', ...options], {
    cwd: checkout,
    encoding: 'utf8',
  });

/** Builds the executable as `file`. Throws with the output of the build if it fails. */
export function buildBinary(file: string): void {
  const { status, stderr } = runBinaryBuild(['--node', binaryNode, '--out', file]);
  if (status !== 0) throw new Error(stderr);
}
