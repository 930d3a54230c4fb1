import { join } from 'node:path';
import { checkout, startProcess } from '../../support/process/signage-process.ts';

const program = join(checkout, 'bin/signage.js');

/** Starts a service on a folder, or with `store` on a database. Default: the built program. */
export async function startService(
  data: string,
  adminToken: string,
  { store = 'json', port = 0, run = program } = {},
) {
  const { until, signal, ended, err } = startProcess(
    [run, 'serve', '--port', String(port), '--data', data, '--log-format', 'json', '--no-context'],
    { env: { SIGNAGE_ADMIN_TOKEN: adminToken, SIGNAGE_STORE: store } },
  );
  const [url] = await until(/http:\/\/127\.0\.0\.1:\d+/);
  return {
    url,
    /** Resolves with the exit code. */
    ended,
    err,
    /** Sends SIGKILL and waits for the end of the process. */
    async kill() {
      signal('SIGKILL');
      await ended;
    },
    /** Sends SIGSTOP. */
    pause: () => signal('SIGSTOP'),
    /** Sends SIGTERM. Returns the exit code. */
    stop() {
      signal('SIGTERM');
      return ended;
    },
  };
}

/** `signage serve` in a process. */
export type KilledService = Awaited<ReturnType<typeof startService>>;
