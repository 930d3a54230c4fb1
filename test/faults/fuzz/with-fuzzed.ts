import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { DriftingClock } from '../../support/drifting-clock.ts';
import { adminToken, startService } from '../../support/service.ts';
import type { FuzzOptions } from './run-fuzz.ts';

/**
 * Runs `work` with a service of its own that trusts this machine as a proxy, so that requests can
 * have many sources.
 */
export async function withFuzzed<T>(
  options: ServeOptions,
  run: (subject: Pick<FuzzOptions, 'service' | 'clock' | 'adminToken'>) => Promise<T>,
): Promise<T> {
  const clock = new DriftingClock();
  const service = await startService({ clock, trustProxy: ['127.0.0.1'], ...options });
  try {
    return await run({ service, clock, adminToken });
  } finally {
    await service.close();
  }
}
