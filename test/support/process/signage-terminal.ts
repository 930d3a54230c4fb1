import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { memoize } from '../../../src/cli/terminal/memoize.ts';
import { shellQuote } from '../../../src/cli/terminal/text.ts';
import { afterEachTest } from '../runtime/clean-up.ts';
import { checkout } from './signage-process.ts';
import { terminalScreen } from './terminal-screen.ts';

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** Fails if `script` of util-linux cannot be installed, or if the program is not built. */
const requireTerminals = memoize(() => {
  if (!hasScript()) {
    try {
      execFileSync('apt-get', ['install', '-y', 'bsdutils'], { stdio: 'ignore' });
    } catch {
      // The next check throws.
    }
  }
  if (!hasScript())
    throw new Error('These tests need script of util-linux: apt-get install bsdutils');
  if (!existsSync(join(checkout, 'dist/cli/main.js')))
    throw new Error('These tests run the built program: npm run build');
  return true;
});

const running = new Set<{ pid: number | undefined; ended: Promise<unknown> }>();

afterEachTest(async () => {
  for (const { pid, ended } of running) {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await ended;
  }
});

/**
 * Runs `signage` in a pseudo-terminal. `CI`, colour and `SIGNAGE_` variables of this process are
 * not passed on.
 */
export function openTerminal(
  argv: readonly string[],
  env: Record<string, string>,
  [columns, rows] = [80, 24],
  program = [process.execPath, join(checkout, 'bin/signage.js')],
) {
  requireTerminals();
  const words = [...program, ...argv].map(shellQuote).join(' ');
  const command = `tty; stty cols ${columns} rows ${rows}; exec ${words}`;
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(?:SIGNAGE_|CI$|NO_COLOR$|FORCE_COLOR$)/.test(name),
  );
  const child = spawn(
    'script',
    ['--quiet', '--return', '--flush', '--command', command, '/dev/null'],
    {
      env: { ...Object.fromEntries(clean), SHELL: '/bin/sh', TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  let all = '';
  let size = columns;
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    all += text;
    for (const look of [...waiting]) look();
  });
  const written = () => all.slice(all.indexOf('\n') + 1);
  const seen = () => terminalScreen(written(), size).join('\n');
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const one = { pid: child.pid, ended };
  running.add(one);
  ended.then(() => running.delete(one));
  return {
    /** Returns all bytes written to it. */
    written,
    /** Returns the text on the screen. */
    seen,
    /** Types keys. `\u0003` is Ctrl-C. */
    type: (keys: string) => void child.stdin.write(keys),
    /** Changes its size. */
    resize(toColumns: number, toRows: number) {
      size = toColumns;
      const [tty = ''] = /^\/dev\/\S+/.exec(all) ?? [];
      execFileSync('stty', ['-F', tty, 'cols', String(toColumns), 'rows', String(toRows)]);
    },
    /** Waits until the screen matches. Rejects when the program ends without it, or after 20 s. */
    until: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const fail = (why: string) =>
          reject(new Error(`${pattern} was not seen: ${why}. Screen:\n${seen()}`));
        const timer = setTimeout(fail, 20_000, 'timeout');
        const look = () => {
          const match = pattern.exec(seen());
          if (!match) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(match);
        };
        waiting.add(look);
        look();
        ended.then((code) => fail(`ended with ${code}`));
      }),
    /** Resolves with the exit code. */
    ended,
  };
}

/** A command in a pseudo-terminal. */
export type SignageTerminal = ReturnType<typeof openTerminal>;
