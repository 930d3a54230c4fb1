import { DeviceLedger } from './device-ledger.ts';

/** Something that the service must never do, and did. */
export interface Finding {
  /** `events_lost`, `events_duplicated`, `events_strange`, `report_differs`, `code_used_twice`, `revoked_key_accepted`, `received_differs`, `no_working_key`, `several_working_keys`, `locked_out`. */
  code: string;
  /** How often: events, or answers. */
  count: number;
  /** What the first of them was. */
  message: string;
}

/** Findings of a run, those of one code put together. */
class Findings {
  readonly #found = new Map<string, Finding>();

  add(code: string, message: string, count = 1): void {
    const known = this.#found.get(code) ?? { code, count: 0, message };
    this.#found.set(code, { ...known, count: known.count + count });
  }

  list(): Finding[] {
    return [...this.#found.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  }
}

/** What one registration gave. */
interface Registered {
  deviceId: string;
  screenId: string;
  apiKey: string;
}

/** What the service said on the wire to all TVs of a fleet, whether the TV got to hear it or not. */
export class FleetLedger {
  readonly findings = new Findings();
  readonly #byDevice = new Map<string, DeviceLedger>();
  readonly #byKey = new Map<string, DeviceLedger>();
  readonly #deviceOfCode = new Map<string, string>();

  /** A 201. The same device may be answered again; another one for the same code must never be. */
  registered(code: string, { deviceId, screenId, apiKey }: Registered): void {
    const first = this.#deviceOfCode.get(code) ?? deviceId;
    if (first !== deviceId) {
      this.findings.add(
        'code_used_twice',
        `One pairing code bound the device ${first}, and then the device ${deviceId}.`,
      );
    }
    this.#deviceOfCode.set(code, first);
    if (!this.#byKey.has(apiKey)) this.#add(apiKey, new DeviceLedger(deviceId, screenId));
  }

  /** A TV of an earlier run goes on, which may go back to its former key; `carriedKeys` are of batches that it had begun to send. */
  resumed(
    { deviceId, screenId, apiKey }: Registered,
    carriedKeys: readonly string[],
    formerKey?: string,
  ): void {
    const device = new DeviceLedger(deviceId, screenId, carriedKeys);
    if (formerKey !== undefined) this.#add(formerKey, device);
    this.#add(apiKey, device);
  }

  /** A new key in place of another; the same one may be answered again. */
  rotated(device: DeviceLedger, apiKey: string): void {
    if (!this.#byKey.has(apiKey)) this.#add(apiKey, device);
  }

  ofKey(apiKey: string): DeviceLedger | undefined {
    return this.#byKey.get(apiKey);
  }

  ofDevice(deviceId: string): DeviceLedger | undefined {
    return this.#byDevice.get(deviceId);
  }

  /** In the order in which they were bound. */
  get devices(): Iterable<DeviceLedger> {
    return this.#byDevice.values();
  }

  get deviceCount(): number {
    return this.#byDevice.size;
  }

  /** Events that were acknowledged, each once. */
  get acknowledged(): number {
    return sum(this.#byDevice.values(), (device) => device.acknowledged);
  }

  /** Batches that went out again. */
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
