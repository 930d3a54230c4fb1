import type { ManagementClient } from '../../client/management-client.ts';
import { hasCode } from '../../domain/error.ts';
import type { UnpairedReason } from '../player/observer.ts';
import type { FleetLedger } from '../verify/ledger.ts';

/** Where the TVs of a fleet get their pairing codes, as from an installer. */
export interface PairingCodeProvider {
  /** The next code of a TV; `undefined` when there is none. */
  codeFor(tv: number, why: UnpairedReason): Promise<string | undefined>;
  /** The TV was bound to this screen. */
  bound(tv: number, screenId: string): void;
  /** Takes the key away from a device; `undefined` where nobody may. */
  revoke: Revoke | undefined;
}

/** The signal breaks it off, in place of the one that ends the run. */
type Revoke = (deviceId: string, reason: string, signal?: AbortSignal) => Promise<void>;

export interface Installer {
  management: ManagementClient;
  ledger: FleetLedger;
  signal: AbortSignal;
}

/** Hands out codes that were made elsewhere, each once. */
export function listedCodes(
  codes: readonly string[],
  installer: Installer | undefined,
): PairingCodeProvider {
  const left = codes.values();
  return {
    codeFor: async () => left.next().value,
    bound: () => {},
    revoke: installer && makeRevoke(installer),
  };
}

/** For TVs that have their keys already. */
export const noCodes: PairingCodeProvider = {
  codeFor: async () => undefined,
  bound: () => {},
  revoke: undefined,
};

/** Makes codes for the screens of a fleet: that of the first TV, of the second, … */
export class ScreenCodes implements PairingCodeProvider {
  readonly #installer: Installer;
  readonly #screens: string[];
  /** TVs that try the code of another one first, and the code that the two share. */
  readonly #sharers: ReadonlySet<number>;
  readonly #shared = new Map<number, Promise<string | undefined>>();
  readonly #asked = new Set<number>();
  readonly revoke: Revoke;

  /** `sharers`: each of these TVs, and the one before it, first get one code for the two of them. */
  constructor(installer: Installer, screens: readonly string[], sharers: ReadonlySet<number>) {
    this.#installer = installer;
    this.revoke = makeRevoke(installer);
    this.#screens = [...screens];
    this.#sharers = sharers;
  }

  async codeFor(tv: number, why: UnpairedReason): Promise<string | undefined> {
    const pair = this.#pairOf(tv);
    if (pair === undefined) return this.#makeCode(tv);
    if (!this.#asked.has(tv)) {
      this.#asked.add(tv);
      const code = this.#shared.get(pair) ?? this.#makeCode(pair);
      this.#shared.set(pair, code);
      return code;
    }
    // The other one was first: then the screen that is still free is this TV's.
    if (why === 'refused' && (await this.#screenOf(tv)).state === 'active') this.#swap(pair);
    return this.#makeCode(tv);
  }

  bound(tv: number, screenId: string): void {
    const pair = this.#pairOf(tv);
    if (pair !== undefined && this.#screens[tv] !== screenId) this.#swap(pair);
  }

  /** The first of the two TVs that share a code, if this is one of them. */
  #pairOf(tv: number): number | undefined {
    if (this.#sharers.has(tv)) return tv - 1;
    return this.#sharers.has(tv + 1) ? tv : undefined;
  }

  #swap(pair: number): void {
    const [first, second] = this.#screens.slice(pair, pair + 2) as [string, string];
    [this.#screens[pair], this.#screens[pair + 1]] = [second, first];
  }

  #screenOf(tv: number) {
    const { management, signal } = this.#installer;
    return management.call('getScreen', { params: { id: this.#screens[tv] as string }, signal });
  }

  async #makeCode(tv: number): Promise<string | undefined> {
    const { management, signal } = this.#installer;
    const call = () =>
      management.call('createCode', { body: { screenId: this.#screens[tv] as string }, signal });
    try {
      return (await call()).code;
    } catch (error) {
      // Somebody has deleted it: that is the end of this TV, and of no other.
      if (hasCode(error, 'screen_not_found')) return undefined;
      if (!hasCode(error, 'screen_already_bound')) throw error;
      // The TV was there before, and has forgotten it: as on site, somebody frees the screen first.
      const { deviceId } = await this.#screenOf(tv);
      if (deviceId !== null) await this.revoke(deviceId, 'The simulated TV has lost its key.');
      return (await call()).code;
    }
  }
}

/** From when it resolves, each use of the key must be refused. */
function makeRevoke({ management, ledger, signal }: Installer): Revoke {
  return async (deviceId, reason, ownSignal = signal) => {
    const device = ledger.ofDevice(deviceId);
    if (device) device.isBeingRevoked = true;
    await management.call('revokeDevice', {
      params: { id: deviceId },
      body: { reason },
      signal: ownSignal,
    });
    if (device) device.isRevoked = true;
  };
}
