import type { ConfigInput, DeviceInfoInput, Publication } from '../../client/entities.ts';
import type { HttpProxy } from '../../client/proxy-tunnel.ts';
import type { MakeRequester } from '../../client/requester.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import type { FleetProgress } from './report.ts';

/** Options of `runFleet`. All durations are in milliseconds. */
export interface FleetOptions {
  /** Base URL of the service, such as `http://127.0.0.1:4100`. */
  url: string;
  /**
   * A management token with the role `operator` or a higher one. Required to create screens and
   * codes, and to compare stored events. With `codes` or a saved fleet it is optional, but without
   * it nothing is compared.
   */
  token?: string | undefined;
  /** The tenant to act in. Required for a platform token if there are several tenants. */
  tenantId?: string | undefined;
  /** CA certificates (PEM) to trust in place of Node's own. Default: Node's own. */
  certificates?: readonly string[] | undefined;
  /** HTTP proxy of all requests. Default: none. */
  proxy?: HttpProxy | undefined;
  /** Number of TVs. Default: the number of codes, or 10 without codes. */
  count?: number | undefined;
  /** Name of the venue of the screens. Created if it does not exist. Default: `Simulated`. */
  venue?: string | undefined;
  /**
   * Existing pairing codes. With them, the run creates no screens. Default: the run creates screens
   * and codes.
   */
  codes?: readonly string[] | undefined;
  /**
   * Folder in which the run saves the fleet. The next run with this folder continues with the same
   * TVs. Default: the run saves nothing, and deletes the records it has created.
   */
  keep?: string | undefined;
  /** Name of the service that the saved fleet belongs to. Default: `url`. */
  keptFor?: string | undefined;
  /** Whether to compare acknowledged events with stored events. Default: `true`. */
  compare?: boolean | undefined;
  /**
   * Simulated seconds per real second. With `Infinity` the TVs wait only for responses. Default: 1.
   */
  speed?: number | undefined;
  /** Real time over which the TVs are switched on. Ignored if `speed` is `Infinity`. Default: 0. */
  rampMs?: number | undefined;
  /**
   * Real duration of the run. Without `durationMs` and `lifeMs`, the run lasts until `signal`
   * aborts.
   */
  durationMs?: number | undefined;
  /** Life of each TV by its own clock. Default: until the end of the run. */
  lifeMs?: number | undefined;
  /** Interval of key rotation by the TV's clock, at least 1,000. Default: never. */
  rotateEveryMs?: number | undefined;
  /**
   * Maximum `waitSeconds` of the TVs' requests for changes, 50 to 600. Only with `speed` 1, because
   * other TVs send no such requests. Default: 120.
   */
  maxWaitSeconds?: number | undefined;
  /**
   * Initial time of the TVs' clocks, in Unix epoch milliseconds. Ignored if `speed` is 1. Default:
   * now.
   */
  startMs?: number | undefined;
  /**
   * Seed of all randomness. The same seed and options reproduce the run. Default: random; the
   * report contains it.
   */
  seed?: string | undefined;
  /**
   * Device models, assigned in rotation. Each TV gets its own name and addresses. Default: one
   * generic model.
   */
  deviceInfos?: readonly DeviceInfoInput[] | undefined;
  /**
   * Fault rules, such as `lost-answer:register:20%`. See docs/faults.md for the list. Default:
   * none.
   */
  faults?: readonly string[] | undefined;
  /** Playlist of the created screens. Default: three short items of one campaign. */
  playlist?: Publication | undefined;
  /** Config of the created screens. Default: none. */
  config?: ConfigInput | undefined;
  /**
   * Number of connections that the TVs share, and the limit of concurrent requests if `speed` is
   * not 1. Held requests use other connections. Default: 128.
   */
  connections?: number | undefined;
  /**
   * Aborts the run. The abort cuts the power of all TVs, and the run returns its report within two
   * seconds.
   */
  signal?: AbortSignal | undefined;
  /** Called every 250 ms with the progress of the run. */
  onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** Makes the function that sends the TVs' requests. Default: undici with shared connections. */
  makeRequester?: MakeRequester | undefined;
  /** Real time. Default: the system clock. */
  clock?: Clock | undefined;
  /** Monotonic clock for latencies, in fractional milliseconds. Default: `performance.now`. */
  stopwatch?: (() => number) | undefined;
  /**
   * Source of the generated seed, and of the idempotency keys of management requests. Default: the
   * platform's CSPRNG.
   */
  random?: Random | undefined;
}
