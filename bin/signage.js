#!/usr/bin/env node
// Hands the command line to the program, and sets the exit code. This file is CommonJS (package.json beside it says so), for Node is ready for
// that a fifth sooner than for modules: they are loaded when there is more to do than to tell what the build has written down.
const { synchronousIo, processIo, runFastPath } = require('../dist/cli/at-once.cjs');

const interrupted = [130, 143];

const facts = {
  version: () => require('../package.json').version,
  describe: (path) => require('../dist/cli/commands.json')[path.join(' ')],
};

/** Ends the process after a signal: nothing that is left running may hold it. All else ends by itself, its output written. */
function endNow() {
  const { isatty } = require('node:tty');
  const terminalIsGone = [process.stdout, process.stderr].some(
    ({ isTTY, fd }) => isTTY && !isatty(fd),
  );
  // Node fails an assertion when it ends without the terminal that it began with. Of a process that SIGTERM ends, shells say 143 as well.
  if (terminalIsGone) process.kill(process.pid, 'SIGTERM');
  // biome-ignore lint/nursery/noJsRestrictedProperties: this is the one place, and only after a signal
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
