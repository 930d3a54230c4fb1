import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../../..', import.meta.url));

const running = new Set<{ signal(name: NodeJS.Signals): void; ended: Promise<unknown> }>();

/** Kills all processes that still run. For `afterEach`. */
export async function endProcesses(): Promise<void> {
  for (const one of running) {
    one.signal('SIGKILL');
    await one.ended;
  }
}

interface ProcessOptions {
  /** Default: Node. */
  program?: string;
  cwd?: string;
  env?: Record<string, string>;
}

/** Starts a program in a process. `SIGNAGE_` variables of this process are not passed on. */
export function startProcess(
  argv: readonly string[],
  { program = process.execPath, cwd = checkout, env = {} }: ProcessOptions = {},
) {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('SIGNAGE_'));
  const child = spawn(program, argv, {
    cwd,
    env: { ...Object.fromEntries(clean), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', err: '' };
  const waiting = new Set<() => void>();
  const read = (name: keyof typeof written) => (text: string) => {
    written[name] += text;
    for (const look of [...waiting]) look();
  };
  child.stdout.setEncoding('utf8').on('data', read('out'));
  child.stderr.setEncoding('utf8').on('data', read('err'));
  /** Resolves with the exit code, or `null` after a signal. */
  const ended = once(child, 'close').then(([code]) => code as number | null);
  /** Waits for output that matches. Rejects when the process ends without it. */
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(written.out) ?? pattern.exec(written.err);
        if (match) resolve(match);
      };
      waiting.add(look);
      look();
      ended.then((code) =>
        reject(
          new Error(
            `ended with ${code} before ${pattern} was written. stdout: ${written.out} stderr: ${written.err}`,
          ),
        ),
      );
    });
  const started = {
    pid: child.pid ?? 0,
    out: () => written.out,
    err: () => written.err,
    until,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    ended,
  };
  running.add(started);
  ended.then(() => running.delete(started));
  return started;
}

export type SignageProcess = ReturnType<typeof startProcess>;
