import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../bin/signage.js', import.meta.url));

/** `signage serve` in a process of its own, to be killed. */
export interface KilledService {
  url: string;
  /** SIGKILL: no time to finish anything. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it does nothing more, until it is killed. */
  pause(): void;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
}

/** Waits until the service says where it listens; rejects with what it said when it ends before. */
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

/** On a folder, or with `store` on a database. Runs the built program unless another is given. */
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
