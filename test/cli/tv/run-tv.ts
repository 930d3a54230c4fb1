// Runs `signage tv` in process.
import type { Clock } from '../../../src/domain/clock.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { type StubService, stubService } from '../../support/network/stub-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { afterEachTest } from '../../support/runtime/clean-up.ts';
import { startService } from '../../support/service/service.ts';
import { tvPlace } from '../../support/service/tv-place.ts';
import { type CliOptions, runCli } from '../run-cli.ts';

/** Runs `signage tv` without a token. The service address is set only by `url`. */
export const runTv = (url: string, argv: readonly string[], options: CliOptions = {}) =>
  runCli(['tv', ...argv], { ...options, env: { SIGNAGE_URL: url, ...options.env } });

/** Starts a service for TVs. `tv` runs the command with it. */
export async function startTvService() {
  const service = await startService<Clock>({ clock: systemClock });
  return {
    service,
    tv: (argv: readonly string[], options?: CliOptions) => runTv(service.url, argv, options),
    place: () => tvPlace(service),
  };
}

/** Interrupts the command when it has printed this text. */
export const stopAfter = (pattern: RegExp) => async (io: FakeIo) => {
  await io.until(pattern);
  io.signal('SIGINT');
};

/** A service with fixed answers, until the end of the test. */
export async function stubOfTest(...answers: Parameters<typeof stubService>): Promise<StubService> {
  const stub = await stubService(...answers);
  afterEachTest(stub.close);
  return stub;
}
