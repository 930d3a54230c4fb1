import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';

/** Runs a command and returns its output. Throws with what it wrote to stderr if it fails. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stderr}`);
  return stdout.trim();
}

/** Puts a finished file in its place, complete or not at all. The old one may be running. */
export function replaceFile(file, out) {
  mkdirSync(dirname(out), { recursive: true });
  copyFileSync(file, `${out}.tmp`);
  renameSync(`${out}.tmp`, out);
}

/**
 * Copies the executable of Node. On Linux, `strip` removes its symbols for debuggers, which are a
 * tenth of it. Elsewhere that would break its signature.
 */
export function copyNode(node, out) {
  mkdirSync(dirname(out), { recursive: true });
  copyFileSync(node, out);
  chmodSync(out, 0o755);
  if (process.platform === 'linux' && spawnSync('strip', [out]).status !== 0)
    console.error('strip (binutils) was not found or failed: the result is a tenth larger.');
}
