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

async function run(argv) {
  // Remains if Node runs out of work before `main` has ended: a script must see the failure.
  process.exitCode = 1;
  if (!existsSync(`${__dirname}/../dist`)) {
    process.stderr.write('signage: this checkout is not built. Run: npm ci && npm run build\n');
    return;
  }
  const { main, processIo } = await import('../dist/cli/main.js');
  process.exitCode = await main(argv, processIo());
  if (interrupted.includes(process.exitCode)) endNow();
}

run(process.argv.slice(2));
