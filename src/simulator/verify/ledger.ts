import { DeviceLedger } from './device-ledger.ts';

/** Violations of the protocol by the service, with the same code. */
export interface FleetFinding {
  /**
   * One of `events_lost`, `events_duplicated`, `events_strange`, `report_differs`,
   * `code_used_twice`, `revoked_key_accepted`, `received_differs`, `no_working_key`,
   * `several_working_keys`, `locked_out`.
   */
  code: string;
  /** Number of affected events for the codes `events_…`, otherwise number of occurrences. */
  count: number;
  /** Description of the first occurrence. */
  message: string;
}

/** The findings of a run, grouped by code. */
class Findings {
  readonly #found = new Map<string, FleetFinding>();

  add(code: string, message: string, count = 1): void {
    const existing = this.#found.get(code) ?? { code, count: 0, message };
    this.#found.set(code, { ...existing, count: existing.count + count });
  }

  list(): FleetFinding[] {
    return [...this.#found.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  }
}

/** The result of one registration. */
interface RegisteredTv {
  deviceId: string;
  screenId: string;
  apiKey: string;
}

/**
 * Records the responses of the service to all TVs of a fleet, including responses that did not
 * reach the TV.
 */
export class FleetLedger {
  readonly findings = new Findings();
  readonly #byDevice = new Map<string, DeviceLedger>();
  readonly #byKey = new Map<string, DeviceLedger>();
  readonly #deviceOfCode = new Map<string, string>();

  /**
   * Records a successful registration. The service may repeat its response with the same device,
   * but must never bind a code to two devices.
   */
  registered(code: string, { deviceId, screenId, apiKey }: RegisteredTv): void {
    const first = this.#deviceOfCode.get(code) ?? deviceId;
    if (first !== deviceId) {
      this.findings.add(
        'code_used_twice',
        `One pairing code bound both the device ${first} and the device ${deviceId}.`,
      );
    }
    this.#deviceOfCode.set(code, first);
    if (!this.#byKey.has(apiKey)) this.#add(apiKey, new DeviceLedger(deviceId, screenId));
  }

  /**
   * Records a TV that continues from an earlier run. It may fall back to `formerKey`. `carriedKeys`
   * are the idempotency keys of batches that the TV had begun to send.
   */
  resumed(
    { deviceId, screenId, apiKey }: RegisteredTv,
    carriedKeys: readonly string[],
    formerKey?: string,
  ): void {
    const device = new DeviceLedger(deviceId, screenId, carriedKeys);
    if (formerKey !== undefined) this.#add(formerKey, device);
    this.#add(apiKey, device);
  }

  /** Records a rotated key. The service may return the same key more than once. */
  rotated(device: DeviceLedger, apiKey: string): void {
    if (!this.#byKey.has(apiKey)) this.#add(apiKey, device);
  }

  ofKey(apiKey: string): DeviceLedger | undefined {
    return this.#byKey.get(apiKey);
  }

  ofDevice(deviceId: string): DeviceLedger | undefined {
    return this.#byDevice.get(deviceId);
  }

  /** All devices, in the order in which the ledger first recorded them. */
  get devices(): Iterable<DeviceLedger> {
    return this.#byDevice.values();
  }

  get deviceCount(): number {
    return this.#byDevice.size;
  }

  /** Number of acknowledged events, each counted once. */
  get acknowledged(): number {
    return sum(this.#byDevice.values(), (device) => device.acknowledged);
  }

  /** Number of repeated attempts to send a batch, across all devices. */
  get repeats(): number {
    return sum(this.#byDevice.values(), (device) => device.repeats);
  }

  #add(apiKey: string, device: DeviceLedger): void {
    this.#byKey.set(apiKey, device);
    device.keys.set(apiKey, false);
    this.#byDevice.set(device.deviceId, device);
  }
}

function sum<T>(items: Iterable<T>, numberOf: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += numberOf(item);
  return total;
}
