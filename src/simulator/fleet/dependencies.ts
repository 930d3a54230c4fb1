import { ManagementClient } from '../../client/management-client.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { type Clock, systemClock, systemRandom } from '../../domain/clock.ts';
import { LatencyRecorder } from '../tv/latency.ts';
import { RecordingTransport } from '../tv/recording-transport.ts';
import { FleetLedger } from '../verify/ledger.ts';
import { makePool } from './connection-pool.ts';
import { FleetCounters } from './counters.ts';
import { ConcurrencyLimiter } from './limiter.ts';
import type { FleetOptions } from './options.ts';

const usualConnections = 128;
/** Of those who make screens and codes: they do not wait behind all the TVs. */
const managementConnections = 32;
/** However long a service takes under the load of a fleet, that is for the report to show. */
const managementTimeoutMs = 120_000;

/** What a run works with. */
export interface FleetDependencies {
  clock: Clock;
  ledger: FleetLedger;
  tally: FleetCounters;
  traffic: LatencyRecorder;
  wire: RecordingTransport;
  turnstile: ConcurrencyLimiter;
  /** What a person should know in the end. */
  notes: string[];
  /** To look whether keys work, without leaving traces in the books. */
  keyless: RuntimeClient;
  /** `undefined` without a token. */
  management: ManagementClient | undefined;
  /** Lets go of all connections. */
  close(): Promise<void>;
}

export function makeFleetDependencies(options: FleetOptions): FleetDependencies {
  const {
    url,
    token,
    tenantId,
    certificates,
    clock = systemClock,
    random = systemRandom,
    stopwatch = () => performance.now(),
  } = options;
  const connections = options.connections ?? usualConnections;
  const pool = makePool(connections, certificates);
  const own = options.makeRequester?.(certificates);
  const requester = own
    ? async (...request: Parameters<typeof pool.requester>) => (await own)(...request)
    : pool.requester;
  const office = makePool(managementConnections, certificates);
  const [ledger, traffic] = [new FleetLedger(), new LatencyRecorder()];
  const shared = {
    url,
    clock,
    random,
    timeoutMs: managementTimeoutMs,
    makeRequester: async () => office.requester,
  };
  return {
    clock,
    ledger,
    traffic,
    tally: new FleetCounters(),
    turnstile: new ConcurrencyLimiter(connections),
    notes: [],
    wire: new RecordingTransport({ requester, traffic, ledger, stopwatch }),
    keyless: new RuntimeClient(shared),
    management:
      token === undefined ? undefined : new ManagementClient({ ...shared, token, tenantId }),
    close: async () => void (await Promise.all([pool.close(), office.close()])),
  };
}
