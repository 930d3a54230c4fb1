#!/usr/bin/env node
// Entry point: runs the command line and sets the exit code. This file is CommonJS (see
// package.json beside it), which Node starts a fifth faster than ES modules. Version, help and
// completion scripts come from files of the build. Everything else loads the ES modules.
const { synchronousIo, processIo, runFastPath } = require('../dist/cli/fast-path.cjs');

const interrupted = [130, 143];

const facts = {
  version: () => require('../package.json').version,
  describe: (path) => require('../dist/cli/commands.json')[path.join(' ')],
};

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
  const io = processIo();
  process.exitCode =
    (await runFastPath(argv, synchronousIo(io), facts)) ??
    (await (await import('../dist/cli/main.js')).main(argv, io));
  if (interrupted.includes(process.exitCode)) endNow();
}

run(process.argv.slice(2));
