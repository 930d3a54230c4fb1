import { ManagementClient } from '../../client/management-client.ts';
import type { Requester } from '../../client/requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { type Clock, systemClock, systemRandom } from '../../domain/clock.ts';
import { countInformational } from '../../domain/informational-answers.ts';
import { FleetCounters } from '../tv/counters.ts';
import { LatencyRecorder } from '../tv/latency.ts';
import { isHeld, RecordingTransport } from '../tv/recording-transport.ts';
import { ConcurrencyLimiter } from '../tv/virtual-clock.ts';
import { FleetLedger } from '../verify/ledger.ts';
import type { FleetOptions } from './options.ts';

/** A pool of connections to the service. */
interface ConnectionPool {
  requester: Requester;
  /** Aborts pending requests and closes all connections. */
  close(): Promise<void>;
}

/**
 * Makes a pool of at most `connections` connections. Further requests wait for a free connection.
 * `null`: no limit.
 */
function makePool(
  connections: number | null,
  { certificates, proxy }: Pick<FleetOptions, 'certificates' | 'proxy'>,
): ConnectionPool {
  let pool: ReturnType<typeof open> | undefined;

  async function open() {
    // Loaded on demand, because a program that only runs a service does not need undici.
    const { Agent, ProxyAgent, request } = await import('undici');
    const trust = certificates && { ca: [...certificates] };
    const agent = proxy
      ? new ProxyAgent({
          uri: proxy.url.href,
          connections,
          ...(proxy.authorization !== undefined && { token: proxy.authorization }),
          ...(trust && { requestTls: trust, proxyTls: trust }),
        })
      : new Agent({ connections, ...(trust && { connect: trust }) });
    // The client applies its own timeouts.
    return { agent, request, options: { headersTimeout: 0, bodyTimeout: 0, dispatcher: agent } };
  }

  return {
    async requester(url, { method, ...parts }) {
      pool ??= open();
      const { request, options } = await pool;
      const onInfo = countInformational();
      return request(url, { ...parts, ...options, onInfo, method: method as 'GET' });
    },
    // Bun replaces undici by its own implementation, which has no connections to close.
    close: async () => (await pool)?.agent.destroy?.(),
  };
}

const defaultConnections = 128;
/**
 * The management client has a separate pool, so that its requests do not queue behind the requests
 * of the TVs.
 */
const managementConnections = 32;
/** Long, so that a slow service shows up in the report instead of failing the run. */
const managementTimeoutMs = 120_000;

export interface FleetDependencies {
  clock: Clock;
  ledger: FleetLedger;
  counters: FleetCounters;
  traffic: LatencyRecorder;
  transport: RecordingTransport;
  limiter: ConcurrencyLimiter;
  /** Remarks for the report. */
  notes: string[];
  /** Client for the check of keys. Bypasses the recording transport. */
  keyless: RuntimeClient;
  /** `undefined` without a management token. */
  management: ManagementClient | undefined;
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
  const connections = options.connections ?? defaultConnections;
  const pool = makePool(connections, options);
  const customRequester = options.makeRequester?.(certificates);
  // Without a limit, because each TV may keep a connection busy with a held request for minutes.
  const holdPool = makePool(null, options);
  const requester: Requester = async (url, parts) => {
    if (customRequester) return (await customRequester)(url, parts);
    return (isHeld(url) ? holdPool : pool).requester(url, parts);
  };
  const managementPool = makePool(managementConnections, options);
  const ledger = new FleetLedger();
  const traffic = new LatencyRecorder();
  const shared = {
    url,
    clock,
    random,
    timeoutMs: managementTimeoutMs,
    makeRequester: async () => managementPool.requester,
  };
  return {
    clock,
    ledger,
    traffic,
    counters: new FleetCounters(),
    limiter: new ConcurrencyLimiter(connections),
    notes: [],
    transport: new RecordingTransport({ requester, traffic, ledger, stopwatch }),
    keyless: new RuntimeClient(shared),
    management:
      token === undefined ? undefined : new ManagementClient({ ...shared, token, tenantId }),
    close: async () => {
      await Promise.all([pool, holdPool, managementPool].map((one) => one.close()));
    },
  };
}
