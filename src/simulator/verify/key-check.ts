import type { RuntimeClient } from '../../client/runtime-client.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../player/state.ts';
import { forEachBounded } from '../time/bounded.ts';
import type { DeviceLedger } from './device-ledger.ts';
import type { FleetLedger } from './ledger.ts';

/** What looking at the keys of TVs came to. */
export interface KeyBalance {
  /** TVs that have a key, and whose device nobody has revoked. */
  tvs: number;
  /** Keys that were ever given out to the devices that were looked at. */
  issued: number;
  /** Of these, so many work: one for each TV, and one more for each of `underWay`. */
  working: number;
  /** TVs in the middle of a change, when two keys work: the new one was not used yet. */
  underWay: number;
}

export interface KeyCheck {
  /** Without a key. */
  client: RuntimeClient;
  ledger: FleetLedger;
  /** What the TVs have kept. */
  states: readonly (PlayerState | undefined)[];
  /** Breaks it off at once: what is cleared away meanwhile has no keys. */
  signal: AbortSignal;
}

/** A place where no key belongs: a good one is told so, and that is no use of it (docs/protocol.md §2.8). */
const nowhere = '00000000-0000-0000-0000-000000000000';
const keysAtOnce = 32;

async function works({ client, signal }: KeyCheck, apiKey: string): Promise<boolean> {
  try {
    await client.withKey(apiKey).fetchConfig(nowhere, { signal });
    return true;
  } catch (error) {
    if (hasCode(error, 'device_key_mismatch')) return true;
    if (error instanceof SignageError && error.status === 401) return false;
    throw error;
  }
}

/** Whether the new key of a change was not used yet, as far as anybody can know: then the old one still works beside it. */
function isUnderWay({ rotating }: PlayerState, device: DeviceLedger, own: string): boolean {
  return rotating !== undefined || device.keys.get(own) === false;
}

/** What is wrong with the keys of a TV; `undefined`: nothing. */
function complaintOf(
  own: string,
  isBetween: boolean,
  working: ReadonlySet<string>,
): [code: string, what: string] | undefined {
  if (!working.has(own)) return ['no_working_key', 'The key of the TV does not work'];
  if (working.size > (isBetween ? 2 : 1))
    return ['several_working_keys', `${working.size} keys work, where one should`];
  return undefined;
}

/** Looks, for each TV, which of all keys that its device ever got do work; what is wrong goes to the ledger's findings. */
export async function checkKeys(check: KeyCheck): Promise<KeyBalance> {
  const { ledger, states } = check;
  const balance: KeyBalance = { tvs: 0, issued: 0, working: 0, underWay: 0 };
  const kept = new Map(
    states.flatMap((state) => (state?.binding ? [[state.binding.deviceId, state] as const] : [])),
  );
  await forEachBounded([...ledger.devices], keysAtOnce, async (device) => {
    const state = kept.get(device.deviceId);
    const own = state?.binding?.apiKey;
    if (!device.isRevoked && own === undefined) return;
    const working = new Set<string>();
    for (const key of device.keys.keys()) if (await works(check, key)) working.add(key);
    balance.issued += device.keys.size;
    balance.working += working.size;
    const add = (code: string, what: string) =>
      ledger.findings.add(code, `${what}: device ${device.deviceId}.`);
    if (device.isRevoked) {
      if (working.size > 0) add('revoked_key_accepted', 'A key of a revoked device works');
      return;
    }
    balance.tvs++;
    const isBetween = isUnderWay(state as PlayerState, device, own as string);
    if (isBetween && working.size === 2) balance.underWay++;
    const complaint = complaintOf(own as string, isBetween, working);
    if (complaint) add(...complaint);
  });
  return balance;
}
