#!/usr/bin/env node
import { processIo } from '../dist/cli/io.js';
// Hands the command line to the program, and sets the exit code.
import { main } from '../dist/cli/main.js';

const interrupted = [130, 143];

process.exitCode = await main(process.argv.slice(2), processIo());
// After a signal nothing that is left running may hold the process; all else ends by itself, its output written.
// biome-ignore lint/nursery/noJsRestrictedProperties: this is the one place, and only after a signal
if (interrupted.includes(process.exitCode)) process.exit();
