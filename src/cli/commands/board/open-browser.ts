import { spawn } from 'node:child_process';
import type { Io } from '../../terminal/io.ts';

/** The program of each platform that opens a URL in the browser. Default: that of Linux. */
const programs: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };

/** Opens a URL in the browser of the user. Returns whether a program could be started. */
export async function openBrowser(url: string, { env }: Pick<Io, 'env'>): Promise<boolean> {
  const program = programs[process.platform] ?? 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true, env: { ...env } });
  child.unref();
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
}
