import type { ManagementClient } from '../../client/management-client.ts';
import { hasCode } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import type { PairingCodeProvider, Revoke } from '../tv/device.ts';
import type { FleetLedger } from '../verify/ledger.ts';

export interface Installer {
  management: ManagementClient;
  ledger: FleetLedger;
  signal: AbortSignal;
}

/** Provides the given codes, each once. */
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

/** Creates codes for the screens of a fleet: the first screen for the first TV, and so on. */
export class ScreenCodes implements PairingCodeProvider {
  readonly #installer: Installer;
  readonly #screens: string[];
  /** TVs that first try the code of the TV before them. */
  readonly #sharers: ReadonlySet<number>;
  readonly #shared = new Map<number, Promise<string | undefined>>();
  readonly #asked = new Set<number>();
  readonly revoke: Revoke;

  /** Each TV in `sharers` first shares one code with the TV before it. */
  constructor(installer: Installer, screens: readonly string[], sharers: ReadonlySet<number>) {
    this.#installer = installer;
    this.revoke = makeRevoke(installer);
    this.#screens = [...screens];
    this.#sharers = sharers;
  }

  async codeFor(tv: number, reason: UnpairedReason): Promise<string | undefined> {
    const pair = this.#pairOf(tv);
    if (pair === undefined) return this.#makeCode(tv);
    if (!this.#asked.has(tv)) {
      this.#asked.add(tv);
      const code = this.#shared.get(pair) ?? this.#makeCode(pair);
      this.#shared.set(pair, code);
      return code;
    }
    // The other TV of the pair has used the shared code, and has taken this TV's screen. So the two
    // TVs swap screens.
    if (reason === 'refused' && (await this.#screenOf(tv)).state === 'active') this.#swap(pair);
    return this.#makeCode(tv);
  }

  bound(tv: number, screenId: string): void {
    const pair = this.#pairOf(tv);
    if (pair !== undefined && this.#screens[tv] !== screenId) this.#swap(pair);
  }

  /** If this TV shares a code with another one, returns the lower number of the two TVs. */
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
      management.call('createCode', {
        body: { screenId: this.#screens[tv] as string, simulated: true },
        signal,
      });
    try {
      return (await call()).code;
    } catch (error) {
      // The screen was deleted during the run. Only this TV stops.
      if (hasCode(error, 'screen_not_found')) return undefined;
      if (!hasCode(error, 'screen_already_bound')) throw error;
      // The device of a TV that has lost its key is still bound. It is revoked first, as an
      // installer would do.
      const { deviceId } = await this.#screenOf(tv);
      if (deviceId !== null) await this.revoke(deviceId, 'The simulated TV has lost its key.');
      return (await call()).code;
    }
  }
}

/**
 * Returns a function that revokes a device. After its promise resolves, the service must reject all
 * keys of the device.
 */
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
