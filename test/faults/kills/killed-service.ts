import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../bin/signage.js', import.meta.url));

/** `signage serve` in a process. */
export interface KilledService {
  url: string;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
  /** Sends SIGSTOP. */
  pause(): void;
  /** Sends SIGTERM. Returns the exit code. */
  stop(): Promise<number | null>;
}

/** Waits until the service listens. Rejects with its output if it ends before. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (url) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`signage serve ended with ${code}: ${said}`)));
  });
}

/** Starts a service on a folder, or with `store` on a database. Default: the built program. */
export async function startService(
  data: string,
  adminToken: string,
  { store = 'json', port = 0, run = program } = {},
): Promise<KilledService> {
  const child = spawn(
    process.execPath,
    [run, 'serve', '--port', String(port), '--data', data, '--log-format', 'json', '--no-context'],
    {
      env: { ...process.env, SIGNAGE_ADMIN_TOKEN: adminToken, SIGNAGE_STORE: store },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const gone = once(child, 'exit');
  const url = await listening(child);
  return {
    url,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    pause() {
      child.kill('SIGSTOP');
    },
    async stop() {
      child.kill('SIGTERM');
      return (await gone)[0] as number | null;
    },
  };
}
