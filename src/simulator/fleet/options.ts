import type { MakeRequester } from '../../client/requester.ts';
import type { Clock, Random } from '../../domain/clock.ts';
import type { DeviceInfoInput } from '../tv/device-info.ts';
import type { Publication, SiteConfig } from './provision.ts';
import type { FleetProgress } from './report.ts';

/** Times are milliseconds. */
export interface FleetOptions {
  /** Where the service is. */
  url: string;
  /**
   * A management token of the role `operator` or more: for the screens and codes, and to compare in the end what was acknowledged with what is
   * stored. With `codes` it may be left out; then nothing is compared.
   */
  token?: string | undefined;
  /** The tenant, where a platform token has several to choose from. */
  tenantId?: string | undefined;
  /** Certificates (PEM) to trust in place of Node's own. */
  certificates?: readonly string[] | undefined;
  /** How many TVs; as many as there are codes, or else 10, unless said. */
  count?: number | undefined;
  /** The name of the venue that the screens are made in; it is made too, if need be. `Simulated` unless said. */
  venue?: string | undefined;
  /** Pairing codes that were made elsewhere: then nothing is made. */
  codes?: readonly string[] | undefined;
  /** A folder that keeps who the TVs are: the next run with it goes on with the same TVs. Without it, what was made is taken away in the end. */
  keep?: string | undefined;
  /** What the kept TVs belong to, if the service is not known by its `url`. */
  keptFor?: string | undefined;
  /** Whether what was acknowledged is compared with what is stored; it is unless said. */
  compare?: boolean | undefined;
  /** How many seconds the TVs live in one of the wall's. 1 unless said; with `Infinity` they wait for nothing but answers. */
  speed?: number | undefined;
  /** Over how long, on the wall's clock, the TVs are switched on; 0 unless said. */
  rampMs?: number | undefined;
  /** How long the run lasts on the wall's clock. Without it and `lifeMs`, until the signal aborts. */
  durationMs?: number | undefined;
  /** How long each TV lives by its own clock. */
  lifeMs?: number | undefined;
  /** How often each TV changes its key for a new one, by its own clock; never unless said. */
  rotateEveryMs?: number | undefined;
  /** What the clocks of the TVs say at the beginning, Unix epoch milliseconds; now unless said. Not with speed 1. */
  startMs?: number | undefined;
  /** The same seed, on the same options: the same run. A random one unless given; the report says which. */
  seed?: string | undefined;
  /** What models the TVs are, in turn; each has a name and addresses of its own. */
  deviceInfos?: readonly DeviceInfoInput[] | undefined;
  /** What goes wrong, such as `lost-answer:register:20%`: docs/simulator.md lists the rules. */
  faults?: readonly string[] | undefined;
  /** What the screens show, and their config, where they are made. */
  playlist?: Publication | undefined;
  config?: SiteConfig | undefined;
  /** How many connections the TVs share, and how many of them are busy at a time if they are faster than we are; 128 unless said. */
  connections?: number | undefined;
  /** Ends the run at once: the power of all TVs fails, and the report so far is returned within two seconds. */
  signal?: AbortSignal | undefined;
  /** Called four times a second. */
  onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** How requests are sent; over connections that all TVs share unless given. */
  makeRequester?: MakeRequester | undefined;
  clock?: Clock | undefined;
  /** Tells milliseconds, with their fractions, that only go forward: for latencies. */
  stopwatch?: (() => number) | undefined;
  random?: Random | undefined;
}
