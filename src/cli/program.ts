import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import type { CommandAction, Context, Flags } from './context.ts';
import { serveSettings } from './serve-settings.ts';
import { declareSettings } from './settings.ts';
import { simulateSettings } from './simulate-settings.ts';

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const serveExamples = `
Examples:
  signage serve                                    on this machine only, data in ./signage-data
  signage serve --demo                             with something to look at
  signage serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
  SIGNAGE_ADMIN_TOKEN=mak_… signage serve --store memory

The first start on an empty folder makes a platform token. A terminal shows it; otherwise it is written to the file
admin-token in the data folder. SIGNAGE_ADMIN_TOKEN sets it instead (mak_ and at least 24 letters and digits).`;

const simulateExamples = `
Examples:
  SIGNAGE_TOKEN=mak_… signage simulate --count 100
  signage simulate --url https://signage.example.com --token-file token.txt --venue Rehearsal -o json

It uses screens labelled simulated=true only, and leaves all others alone.
Exit codes: 0 all went well, 9 something failed, 7 the service cannot be reached, 4 the token does not suffice.`;

/** Builds the command tree. What commands do is loaded when they run, so that help and version stay quick; `done` takes the exit code. */
function buildProgram(context: Context, done: (exitCode: number) => void): Command {
  const { stdout, stderr } = context.io;
  const run = (action: () => Promise<CommandAction>) => async (flags: Flags) => done(await (await action())(context, flags));
  const program = new Command('signage')
    .description('Digital signage: pair TVs with screens, serve playlists, collect proof of play.')
    .version(version(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError('(signage --help shows what there is)');
  declareSettings(program.command('serve'), serveSettings)
    .description('Run the service')
    .addHelpText('after', serveExamples)
    .action(run(async () => (await import('./commands/serve.ts')).serveCommand));
  declareSettings(program.command('simulate'), simulateSettings)
    .description('Let simulated TVs loose on a service, and tally what happens')
    .addHelpText('after', simulateExamples)
    .action(run(async () => (await import('./commands/simulate.ts')).simulateCommand));
  return program;
}

/** Runs a command line; answers the exit code. What goes wrong in a command is thrown. */
export async function runProgram(argv: readonly string[], context: Context): Promise<number> {
  let exitCode = 0;
  const program = buildProgram(context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}
