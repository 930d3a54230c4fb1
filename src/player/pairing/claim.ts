import type { DeviceClient } from '../../client/device-client.ts';
import type { ClaimOffer, DeviceInfoInput } from '../../client/entities.ts';
import { interrupted, pause } from '../../client/pause.ts';
import { type Clock, minuteMs, type Random, randomHex, secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { isTransient } from '../backoff.ts';

/** Keeps the `Idempotency-Key` of a claim, which is a secret (docs/protocol.md §3.6). */
export interface ClaimKeyMemory {
  load(): string | undefined;
  /** Saves the key. `undefined`: the claim has ended. */
  save(key: string | undefined): void;
}

export interface ClaimOptions {
  client: DeviceClient;
  deviceInfo: DeviceInfoInput;
  /** The secret of a ticket, with which the TV enrols itself (docs/protocol.md §3.7). */
  ticket?: string | undefined;
  clock: Clock;
  random: Random;
  /**
   * Keeps the claim's `Idempotency-Key`, so that a TV shows the same claim again after a restart.
   */
  keyMemory?: ClaimKeyMemory | undefined;
  /** Called to show each new claim. */
  onClaim(claim: string): void;
  /** Called with the seconds for which a TV that waits draws its claim, large. 0: it does not. */
  onIdentify?(seconds: number): void;
  /** Called before a request is repeated. May throw to give up. */
  onFailure?(error: SignageError): void;
  /**
   * Shows an offer. If `offer.confirm` is true, asks a person at the TV whether to accept the
   * offer. A refusal leads to a new claim.
   */
  accept(offer: ClaimOffer): Promise<boolean>;
  /** Aborts `offeredCode`, which then rejects with `interrupted`. */
  signal: AbortSignal;
}

/** Maximum hold of the API in seconds (docs/protocol.md §3.6). */
const waitSeconds = 50;
/** Minimum time between two requests if an answer was not held. */
const minIntervalMs = 5 * secondMs;
const firstDelayMs = 2 * secondMs;
const maxDelayMs = minuteMs;
/** Statuses of a service without claims. */
const unsupportedStatuses: readonly unknown[] = [405, 501];

/**
 * Creates claims until `accept` has accepted an offer, and returns the offered pairing code
 * (docs/protocol.md §3.6). Repeats requests that may succeed later. Rejects with all other errors,
 * such as `ticket_not_found`, and with `not_supported` if the service has no claims.
 */
export async function waitForOfferedCode(options: ClaimOptions): Promise<string> {
  for (;;) {
    const code = await codeOfNextClaim(options);
    options.keyMemory?.save(undefined);
    if (code !== undefined) return code;
  }
}

/**
 * Creates a claim, or repeats the creation of the remembered claim, and waits for an offer. Returns
 * the offered code. `undefined`: the claim has ended, or `accept` refused the offer.
 */
async function codeOfNextClaim(options: ClaimOptions): Promise<string | undefined> {
  const { client, deviceInfo, ticket, clock, random, keyMemory, onClaim, accept, signal } = options;
  const idempotencyKey = keyMemory?.load() ?? randomHex(random, 16);
  keyMemory?.save(idempotencyKey);
  const { claim, token } = await withRetries(options, () =>
    client.createClaim(
      { deviceInfo, ...(ticket !== undefined && { ticket }) },
      { idempotencyKey, attempts: 1, signal },
    ),
  );
  onClaim(claim);
  const read = () => client.fetchClaim(claim, token, { waitSeconds, signal });
  for (;;) {
    const askedAtMs = clock.now();
    const status = await withRetries(options, read).catch((error) => {
      if (hasCode(error, 'claim_not_found')) return undefined;
      throw error;
    });
    if (!status) return undefined;
    const { pairingCode, offer, identifySeconds = 0 } = status;
    options.onIdentify?.(identifySeconds);
    if (pairingCode !== null && offer) return (await accept(offer)) ? pairingCode : undefined;
    const tookMs = clock.now() - askedAtMs;
    if (tookMs < minIntervalMs) await pause(clock, minIntervalMs - tookMs, signal);
  }
}

/** Repeats a request while it fails for a transient reason. */
async function withRetries<T>(
  { clock, random, onFailure, signal }: ClaimOptions,
  send: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    if (signal.aborted) throw interrupted(signal);
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof SignageError)) throw error;
      if (error.code === 'interrupted' || error.code === 'claim_not_found') throw error;
      const { status, code, retryAfterSeconds } = error;
      if (unsupportedStatuses.includes(status) || code === 'not_found')
        throw new SignageError('not_supported', 'The service has no claims.', { cause: error });
      // Another TV is on the screen of the link, and may be removed.
      if (!isTransient(error) && code !== 'screen_already_bound') throw error;
      onFailure?.(error);
      const stepMs = Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
      const [fraction = 0] = random(1);
      const spreadMs = stepMs * (0.5 + fraction / 512);
      const waitMs = retryAfterSeconds === undefined ? spreadMs : retryAfterSeconds * secondMs;
      await pause(clock, waitMs, signal);
    }
  }
}
