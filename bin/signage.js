#!/usr/bin/env node
// Entry point: runs the command line and sets the exit code. This file is CommonJS (see
// package.json beside it), which Node starts a fifth faster than an ES module.
const { existsSync } = require('node:fs');

const interrupted = [130, 143];

/**
 * Ends the process after a signal, even when something is still running. Without a signal, the
 * process ends by itself once its output is written.
 */
function endNow() {
  const { isatty } = require('node:tty');
  const terminalIsGone = [process.stdout, process.stderr].some(
    ({ isTTY, fd }) => isTTY && !isatty(fd),
  );
  // process.exit() fails an assertion of Node when the terminal is gone. SIGTERM gives 143 as well.
  if (terminalIsGone) process.kill(process.pid, 'SIGTERM');
  // biome-ignore lint/nursery/noJsRestrictedProperties: the only place, and only after a signal
  else process.exit();
}

/**
 * Loads the command line, which is built into the executable. So only a failed import looks for the
 * folder that a checkout without a build lacks.
 */
async function load() {
  try {
    return await import('../dist/cli/main.js');
  } catch (error) {
    const isBuilt = error.code !== 'ERR_MODULE_NOT_FOUND' || existsSync(`${__dirname}/../dist`);
    if (isBuilt) throw error;
    process.stderr.write('signage: this checkout is not built. Run: npm ci && npm run build\n');
    return undefined;
  }
}

async function run(argv) {
  // Remains if Node runs out of work before `main` has ended: a script must see the failure.
  process.exitCode = 1;
  const cli = await load();
  if (!cli) return;
  const { main, processIo } = cli;
  process.exitCode = await main(argv, processIo());
  if (interrupted.includes(process.exitCode)) endNow();
}

run(process.argv.slice(2));
