import type { CallAnswer } from '../../client/call.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import { makePageGuard } from '../../client/page-guard.ts';
import { SignageError } from '../../domain/error.ts';
import { contentHash, HashList } from './content-hash.ts';
import type { DeviceBalance } from './device-ledger.ts';
import { checkKeys, type KeyBalance, type KeyCheck } from './key-check.ts';
import type { Finding, FleetLedger } from './ledger.ts';

/** What was acknowledged to the TVs of a fleet, against what the service has stored. */
export interface Reconciliation {
  /** Whether all was compared; `skipped` where that was not asked for or there was no time, `failed` where the service would not have it. */
  outcome: 'compared' | 'skipped' | 'failed';
  /** Why it was not compared. */
  why?: string;
  devices: number;
  /** Of all devices together. */
  events: DeviceBalance;
  /** What the service must not have done; empty when all is well. */
  findings: Finding[];
  /** Which keys work, where TVs change them. */
  keys?: KeyBalance;
}

/** Where things stood before the TVs began. */
export interface Baseline {
  /** The newest event then. */
  after: string | undefined;
  report: ReadonlyMap<string, Played>;
}

interface Played {
  impressions: number;
  seconds: number;
}

type StoredEvent = CallAnswer<'listEvents'>['items'][number];

const pageSize = 200;
/** Sums of seconds may differ in the last places. */
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

/** To be read before the first TV of the run sends anything. */
export async function readBaseline(
  management: ManagementClient,
  signal: AbortSignal,
): Promise<Baseline> {
  const { items } = await management.call('listEvents', { query: { limit: 1 }, signal });
  return { after: items[0]?.id, report: await readReport(management, signal) };
}

/** All events that were received since, oldest first. By page and not by device: the service would look through all of them for each. */
async function* eventsSince(
  management: ManagementClient,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent[]> {
  const checkPage = makePageGuard('listEvents');
  let from: { after?: string; cursor?: string } = after === undefined ? {} : { after };
  for (;;) {
    const { items, nextCursor } = await management.call('listEvents', {
      query: { order: 'asc', limit: pageSize, ...from },
      signal,
    });
    yield items;
    if (nextCursor === null) return;
    checkPage({ items, nextCursor });
    from = { cursor: nextCursor };
  }
}

/** What the service lists: the hashes of each device's events, and what was played on each screen. */
class Listed {
  readonly hashes = new Map<string, HashList>();
  readonly played = new Map<string, Played>();
  count = 0;

  add({ deviceId, screenId, event }: StoredEvent): void {
    const hashes = this.hashes.get(deviceId) ?? new HashList();
    hashes.add(contentHash(event));
    this.hashes.set(deviceId, hashes);
    this.count++;
    if (event.type !== 'impression') return;
    const played = this.played.get(screenId) ?? { impressions: 0, seconds: 0 };
    played.impressions++;
    if (typeof event.duration === 'number') played.seconds += event.duration;
    this.played.set(screenId, played);
  }
}

const nothing = (): DeviceBalance => ({
  acknowledged: 0,
  stored: 0,
  lost: 0,
  duplicated: 0,
  strange: 0,
});

const sentences = {
  lost: ['events_lost', 'acknowledged, and is not in GET /v1/events'],
  duplicated: ['events_duplicated', 'stored more often than it was sent under different keys'],
  strange: ['events_strange', 'stored, and was never sent, or refused each time'],
} as const;

/** Compares device by device; what is wrong goes to the ledger's findings, and the answer is the sum. */
function compareDevices({ devices, findings }: FleetLedger, { hashes }: Listed): DeviceBalance {
  const sum = nothing();
  for (const device of devices) {
    const balance = device.balance(hashes.get(device.deviceId) ?? new HashList());
    for (const name of Object.keys(sum) as (keyof DeviceBalance)[]) sum[name] += balance[name];
    for (const [name, [code, what]] of Object.entries(sentences) as [
      keyof typeof sentences,
      readonly [string, string],
    ][]) {
      if (balance[name] > 0)
        findings.add(code, `An event of the device ${device.deviceId} was ${what}.`, balance[name]);
    }
  }
  return sum;
}

/** The report must have counted what the list holds, for each screen that the fleet has played on. */
function compareReport(
  { devices, findings }: FleetLedger,
  { played }: Listed,
  before: Baseline['report'],
  now: Baseline['report'],
): void {
  const zero = { impressions: 0, seconds: 0 };
  for (const screenId of new Set([...devices].map((device) => device.screenId))) {
    const [listed, then, later] = [played, before, now].map((one) => one.get(screenId) ?? zero) as [
      Played,
      Played,
      Played,
    ];
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

export interface Reconciling {
  management: ManagementClient;
  ledger: FleetLedger;
  baseline: Baseline;
  signal: AbortSignal;
  /** For TVs that change their keys: which of those work, to be looked at too. */
  keys?: Omit<KeyCheck, 'ledger'> | undefined;
  /** Told how many events were compared so far. */
  onProgress(compared: number): void;
}

/** Compares, once no TV sends any more. When the signal ends it early, what was found on the wire is still told. */
export async function reconcile({
  management,
  ledger,
  baseline,
  signal,
  keys,
  onProgress,
}: Reconciling): Promise<Reconciliation> {
  const listed = new Listed();
  try {
    for await (const page of eventsSince(management, baseline.after, signal)) {
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
    if (error.code === 'interrupted') return notReconciled(ledger, 'It was interrupted.');
    return { ...notReconciled(ledger, error.message), outcome: 'failed' };
  }
}

/** What there is to say without comparing. */
export function notReconciled(ledger: FleetLedger, why: string): Reconciliation {
  const events = { ...nothing(), acknowledged: ledger.acknowledged };
  return { outcome: 'skipped', why, devices: 0, events, findings: ledger.findings.list() };
}
