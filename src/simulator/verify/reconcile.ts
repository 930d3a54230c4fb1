import type { StoredEvent } from '../../client/entities.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { SignageError } from '../../domain/error.ts';
import { contentHash, type DeviceBalance } from './device-ledger.ts';
import { checkKeys, type KeyBalance, type KeyProbe } from './key-check.ts';
import type { FleetFinding, FleetLedger } from './ledger.ts';

/** The comparison of events acknowledged to the TVs with events stored by the service. */
export interface Reconciliation {
  /**
   * `compared`: complete. `skipped`: disabled, without a management token, or the run failed or was
   * interrupted. `failed`: a request failed.
   */
  outcome: 'compared' | 'skipped' | 'failed';
  /** Reason why the comparison was skipped or failed. Absent if the comparison is complete. */
  why?: string;
  /** Number of devices compared. */
  devices: number;
  /** Event counts across all devices. */
  events: DeviceBalance;
  /** Violations by the service. */
  findings: FleetFinding[];
  /**
   * Result of the key check. Absent without key rotation, after an interruption, and if the
   * comparison is incomplete.
   */
  keys?: KeyBalance;
}

/** The state of the service before the TVs started. */
export interface Baseline {
  /** Id of the newest event at that time. `undefined`: there were no events. */
  after: string | undefined;
  report: ReadonlyMap<string, Played>;
}

interface Played {
  impressions: number;
  seconds: number;
}

const pageSize = 200;
/** Relative tolerance, because sums of seconds may differ in the last digits. */
const tolerance = 1e-6;

async function readReport(
  management: ManagementClient,
  signal: AbortSignal,
): Promise<Map<string, Played>> {
  const { items } = await management.call('reportImpressions', {
    query: { groupBy: 'screen' },
    signal,
  });
  return new Map(items.map(({ key, impressions, seconds }) => [key, { impressions, seconds }]));
}

/** Reads the baseline. Call it before the first TV sends anything. */
export async function readBaseline(
  management: ManagementClient,
  signal: AbortSignal,
): Promise<Baseline> {
  const { items } = await management.call('listEvents', { query: { limit: 1 }, signal });
  return { after: items[0]?.id, report: await readReport(management, signal) };
}

/** The listed events: their hashes by device, and their impressions by screen. */
class ListedEvents {
  readonly hashes = new Map<string, number[]>();
  readonly played = new Map<string, Played>();
  count = 0;

  add({ deviceId, screenId, event }: StoredEvent): void {
    const hashes = this.hashes.get(deviceId) ?? [];
    hashes.push(contentHash(event));
    this.hashes.set(deviceId, hashes);
    this.count++;
    if (event.type !== 'impression') return;
    const played = this.played.get(screenId) ?? { impressions: 0, seconds: 0 };
    played.impressions++;
    if (typeof event.duration === 'number') played.seconds += event.duration;
    this.played.set(screenId, played);
  }
}

const emptyBalance = (): DeviceBalance => ({
  acknowledged: 0,
  stored: 0,
  lost: 0,
  duplicated: 0,
  strange: 0,
});

const findingKinds = {
  lost: ['events_lost', 'acknowledged, but is not in GET /v1/events'],
  duplicated: ['events_duplicated', 'stored more often than it was sent under different keys'],
  strange: ['events_strange', 'stored, although it was never sent or always rejected'],
} as const;

/** Compares each device, adds violations to the findings, and returns the total. */
function compareDevices(
  { devices, findings }: FleetLedger,
  { hashes }: ListedEvents,
): DeviceBalance {
  const sum = emptyBalance();
  for (const device of devices) {
    const balance = device.balance(hashes.get(device.deviceId) ?? []);
    for (const name of Object.keys(sum) as (keyof DeviceBalance)[]) sum[name] += balance[name];
    for (const [name, [code, what]] of Object.entries(findingKinds) as [
      keyof typeof findingKinds,
      readonly [string, string],
    ][]) {
      if (balance[name] > 0)
        findings.add(code, `An event of the device ${device.deviceId} was ${what}.`, balance[name]);
    }
  }
  return sum;
}

/** Checks, for each screen of the fleet, that the impressions report matches the listed events. */
function compareReport(
  { devices, findings }: FleetLedger,
  { played }: ListedEvents,
  before: Baseline['report'],
  now: Baseline['report'],
): void {
  const zero = { impressions: 0, seconds: 0 };
  for (const screenId of new Set([...devices].map((device) => device.screenId))) {
    const listed = played.get(screenId) ?? zero;
    const then = before.get(screenId) ?? zero;
    const later = now.get(screenId) ?? zero;
    const counted = {
      impressions: later.impressions - then.impressions,
      seconds: later.seconds - then.seconds,
    };
    const isSame =
      counted.impressions === listed.impressions &&
      Math.abs(counted.seconds - listed.seconds) <= tolerance * (1 + listed.seconds);
    if (isSame) continue;
    const report = `${counted.impressions} impressions of ${counted.seconds} s`;
    findings.add(
      'report_differs',
      `For the screen ${screenId}, the impressions report counts ${report}, and GET /v1/events lists ${listed.impressions} of ${listed.seconds} s.`,
    );
  }
}

export interface ReconcileOptions {
  management: ManagementClient;
  ledger: FleetLedger;
  baseline: Baseline;
  signal: AbortSignal;
  /**
   * Input of the check of device keys. `undefined`: keys are not checked.
   */
  keys?: Omit<KeyProbe, 'ledger'> | undefined;
  /** Called with the number of events compared so far. */
  onProgress(compared: number): void;
}

/**
 * Compares sent and stored events. Call it after all TVs have stopped. If the signal aborts the
 * comparison, the result still contains the findings so far.
 */
export async function reconcile({
  management,
  ledger,
  baseline,
  signal,
  keys,
  onProgress,
}: ReconcileOptions): Promise<Reconciliation> {
  const listed = new ListedEvents();
  try {
    // Lists the events of all devices together. With a filter by device, the service would scan all
    // events once for each device.
    const query = { order: 'asc', limit: pageSize, after: baseline.after } as const;
    for await (const page of management.pages('listEvents', { query, signal })) {
      for (const one of page) if (ledger.ofDevice(one.deviceId)) listed.add(one);
      onProgress(listed.count);
    }
    const report = await readReport(management, signal);
    const events = compareDevices(ledger, listed);
    compareReport(ledger, listed, baseline.report, report);
    const balance = keys && { keys: await checkKeys({ ...keys, ledger }) };
    return {
      outcome: 'compared',
      devices: ledger.deviceCount,
      events,
      findings: ledger.findings.list(),
      ...balance,
    };
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    if (error.code === 'interrupted') return notReconciled(ledger, 'The run was interrupted.');
    return { ...notReconciled(ledger, error.message), outcome: 'failed' };
  }
}

/** Returns the result without a comparison. */
export function notReconciled(ledger: FleetLedger, why: string): Reconciliation {
  const events = { ...emptyBalance(), acknowledged: ledger.acknowledged };
  return { outcome: 'skipped', why, devices: 0, events, findings: ledger.findings.list() };
}
