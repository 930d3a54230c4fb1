// Runs `signage serve` in process.
import { main } from '../../../src/cli/main.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type FakeIo, fakeIo } from '../../support/process/fake-io.ts';
import { afterEachTest } from '../../support/runtime/clean-up.ts';
import { adminToken } from '../../support/service/service.ts';

export interface Serving {
  io: FakeIo;
  url: string;
  /** Stops the service, unless the test already has. Returns its exit code. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<number>;
  /** Resolves when the command has ended. */
  code: Promise<number>;
}

export interface ServingOptions {
  env?: Record<string, string>;
  /** Default: false. */
  isTTY?: boolean;
  clock?: Clock;
}

/** Starts `signage serve` on any free port, until the end of the test. */
export async function serving(
  argv: readonly string[],
  { env = {}, isTTY = false, clock }: ServingOptions = {},
): Promise<Serving> {
  const io = fakeIo({ env: { XDG_CONFIG_HOME: await temporaryFolder(), ...env }, isTTY });
  const port = argv.includes('--port') ? [] : ['--port', '0'];
  const code = main(['serve', ...port, ...argv], io, clock && { clock });
  const failed = code.then(() => Promise.reject(new Error(`ended: ${io.err()}`)));
  failed.catch(() => {});
  const stop = (signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM') => {
    io.signal(signal);
    return code;
  };
  afterEachTest(stop);
  const url = await Promise.race([io.until(/https?:\/\/127\.0\.0\.1:\d+/), failed]);
  await Promise.race([io.until(/Try: /), failed]);
  return { io, url, stop, code };
}

/** Starts `signage serve --store memory` with the platform token of the tests. */
export const servingInMemory = (argv: readonly string[] = [], env: Record<string, string> = {}) =>
  serving(['--store', 'memory', ...argv], { env: { SIGNAGE_ADMIN_TOKEN: adminToken, ...env } });
