// A transcript is a text file with commands and all that they print. It reads as documentation of
// the command line, and is a test: `transcripts.test.ts` runs each one against a service of its
// own, in a folder of its own, and compares. After a change, run that file with `-u`, and review
// the difference.
//
//   # A comment.
//   $ signage venue create --name Lobby      a command, with the platform token
//     Name  Lobby                            stdout, indented by two spaces
//   ! signage: …                             stderr
//   [exit 6]                                 the exit code, unless it is 0
//   $ SIGNAGE_TOKEN=<viewer token> signage … another environment, here a new token of this role
//   $ COLUMNS=60 signage venue delete Lobby  at a terminal of this width: shows the screen at last
//   > n                                      typed at the next question (`> ^C` interrupts)
//   $ signage apply -f - < site.yaml         a file for stdin
//   $ sleep 90                               advances the clock, which otherwise stands still
//   $ cat FILE                               shows a file of the folder
//   $ POST /devices/register {"pairingCode":"<code 1>"}  a request to the service, here of a TV
//   $ X_DEVICE_TIME=86400 POST …             a request with a header
//   -- site.yaml --                          a file for the commands, at the end of the transcript
//
// Varying values and secrets are replaced by numbered placeholders, such as `<id 1>` and
// `<code 1>`. Later commands, requests and files can use them. A wait must be one of 0 s.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { bashWords } from '../../src/cli/commands/completion/bash-words.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import type { FakeIo } from '../support/process/fake-io.ts';
import { terminalScreen } from '../support/process/terminal-screen.ts';
import { adminToken, startService, type TestService } from '../support/service/service.ts';
import { Placeholders } from './placeholders.ts';
import { runCli } from './run-cli.ts';

interface Step {
  /** Comments and blank lines above the command. */
  above: string[];
  command: string;
  answers: string[];
}

const fileHeader = /^-- (\S+) --\n/m;

function parse(transcript: string) {
  const [dialogue = '', ...files] = transcript.split(fileHeader);
  const steps: Step[] = [];
  let above: string[] = [];
  for (const line of dialogue.split('\n')) {
    if (line.startsWith('$ ')) {
      steps.push({ above, command: line.slice(2), answers: [] });
      above = [];
    } else if (line.startsWith('>')) steps.at(-1)?.answers.push(line.slice(1).trim());
    else if (line.startsWith('#') || (line === '' && above.length > 0)) above.push(line);
  }
  return { steps, files, footer: transcript.slice(dialogue.length) };
}

/** Shows control characters as escapes, and marks a text without a newline at its end. */
function marked(mark: string, text: string): string[] {
  const lines = text.split('\n');
  const end = lines.pop();
  if (end) lines.push(`${end} [no newline]`);
  return lines.map((line) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
    const shown = line.replaceAll(/[\u0000-\u001f\u007f]/g, (one) =>
      JSON.stringify(one).slice(1, -1),
    );
    return shown === '' ? mark.trimEnd() : mark + shown;
  });
}

/** Collects the output in its order, and types an answer at each question. */
function recorder(answers: readonly string[]) {
  const pieces: { mark: string; text: string }[] = [];
  const left = [...answers];
  const write = (mark: string, text: string) => {
    const last = pieces.at(-1);
    if (last?.mark === mark) last.text += text;
    else pieces.push({ mark, text });
  };
  const tee = <O extends FakeIo['stdout']>(output: O, mark: string): O => ({
    ...output,
    write(text: string | Uint8Array) {
      write(mark, typeof text === 'string' ? text : Buffer.from(text).toString());
      output.write(text);
    },
  });
  const around = (io: FakeIo): FakeIo => ({
    ...io,
    stdout: tee(io.stdout, '  '),
    stderr: tee(io.stderr, '! '),
    terminal() {
      const answer = left.shift() ?? '^C';
      let isDrawn = false;
      const output = new Writable({
        write(chunk, _, done) {
          write('! ', String(chunk));
          if (!isDrawn) setImmediate(() => io.type(answer === '^C' ? '\u0003' : `${answer}\r`));
          isDrawn = true;
          done();
        },
      });
      return { input: io.terminal().input, output };
    },
  });
  return { pieces, left, around };
}

/** Begins a line about a mistake in the transcript itself. */
export const fault = '[mistake:';

type Run = (words: string[], env: Record<string, string>, answers: string[]) => Promise<string[]>;

/** Returns a function that runs one command in the folder. */
function runner(service: TestService, folder: string): Run {
  const usual = {
    SIGNAGE_URL: service.url,
    SIGNAGE_TOKEN: adminToken,
    XDG_CONFIG_HOME: join(folder, 'config'),
  };
  // Time-outs are real.
  const clock = { ...systemClock, now: () => service.clock.now() };
  const signage: Run = async (words, { COLUMNS, ...env }, answers) => {
    const from = words.indexOf('<');
    const input = words[from + 1];
    const { pieces, left, around } = recorder(answers);
    const { code } = await runCli(from < 0 ? words : words.slice(0, from), {
      env: { ...usual, ...env },
      clock,
      around,
      ...(from >= 0 && input && { stdin: await readFile(input, 'utf8') }),
      ...(COLUMNS && { tty: true, columns: Number(COLUMNS) }),
    });
    const written = pieces.map(({ text }) => text).join('');
    const output = COLUMNS
      ? marked('  ', `${terminalScreen(written, Number(COLUMNS)).join('\n').trimEnd()}\n`)
      : pieces.flatMap(({ mark, text }) => marked(mark, text));
    const unasked = left.map((answer) => `${fault} no question for the answer ${answer}]`);
    return [...output, ...unasked, ...(code === 0 ? [] : [`[exit ${code}]`])];
  };
  return async ([name = '', ...words], env, answers) => {
    const [first = ''] = words;
    if (name === 'signage') return signage(words, env, answers);
    if (name === 'cat') return marked('  ', await readFile(first, 'utf8'));
    if (name === 'sleep') {
      service.clock.advance(Number(first) * 1000);
      return [];
    }
    if (!/^[A-Z]+$/.test(name)) return [`${fault} a transcript cannot run ${name} ${first}]`];
    const key = env.SIGNAGE_TOKEN ?? (first.startsWith('/v1/') ? adminToken : undefined);
    const body = words.length > 1 ? words.slice(1).join(' ') : undefined;
    const headers = Object.entries(env)
      .filter(([variable]) => variable.startsWith('X_'))
      .map(([variable, value]) => [variable.toLowerCase().replaceAll('_', '-'), value]);
    const sent = { ...(key && { key }), body, headers: Object.fromEntries(headers) };
    const answer = await service.send(name, first, sent);
    return [`  ${answer.status} ${answer.text}`.trimEnd()];
  };
}

/** Runs the commands of a transcript. Returns the transcript with what they print now. */
export async function replay(transcript: string): Promise<string> {
  const { steps, files, footer } = parse(transcript);
  const service = await startService();
  const folder = await temporaryFolder();
  const run = runner(service, folder);
  const values = new Placeholders();
  values.add('url', service.url);
  values.add('host', new URL(service.url).host);
  values.add('folder', folder);
  values.add('platform token', adminToken);
  for (const role of ['viewer', 'installer', 'operator', 'admin']) {
    const name = `${role} token`;
    if (transcript.includes(`<${name}>`)) values.add(name, await service.token(role));
  }
  const before = process.cwd();
  process.chdir(folder);
  try {
    const parts: string[] = [];
    const written = new Map<number, string>();
    for (const { above, command, answers } of steps) {
      // A file may name a value of an earlier output. Changes of commands to a file stay.
      for (let at = 0; at < files.length; at += 2) {
        const content = values.fill(files[at + 1] ?? '');
        if (content === written.get(at)) continue;
        written.set(at, content);
        await writeFile(join(folder, files[at] ?? ''), content, { mode: 0o600 });
      }
      const filled = values.fill(command);
      // The body of a request keeps its quotes.
      const isRequest = /^(?:\w+=\S+ )*[A-Z]+ \//.test(filled);
      const words = isRequest ? filled.split(' ') : bashWords(filled).map(({ text }) => text);
      const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
      const env = Object.fromEntries(words.slice(0, start).map((word) => word.split(/=(.*)/s)));
      const output = await run(words.slice(start), env, answers);
      const typed = answers.map((answer) => `> ${answer}`.trimEnd());
      const shown = values.mask(output.join('\n'));
      parts.push([...above, `$ ${command}`, ...typed, ...(shown ? [shown] : [])].join('\n'));
    }
    return `${parts.join('\n\n')}\n${footer && `\n${footer}`}`;
  } finally {
    process.chdir(before);
    await service.close();
  }
}
