import { iso, isoOrNull, minuteMs, secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import {
  type CodeStatusView,
  type CreatedCode,
  codeStatusAt,
  hashCode,
  makeCode,
  pairingCodeText,
} from '../../domain/records/pairing-code.ts';
import type { PairingCode, Screen } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import { checkAuthority } from '../auth/authority.ts';
import {
  type Caller,
  recordChange,
  type ServiceDependencies,
  type TenantCaller,
} from '../context.ts';
import { holdUntil } from '../long-poll.ts';
import { lookUp } from '../lookup.ts';
import { isWithin, venuesOf } from '../venue-scope.ts';

/** A screen has at most this many live codes: one more cancels the oldest. */
const mostLiveCodes = 5;
/** How often a fresh code may turn out to be one that is still remembered: with 31^8 codes once is rare. */
const mostTries = 8;

function codeView(row: PairingCode, code: string, nowMs: number): CodeStatusView {
  const status = codeStatusAt(row, nowMs);
  return {
    code,
    screenId: row.screenId,
    status,
    createdAt: iso(row.createdAt),
    expiresAt: iso(row.expiresAt),
    expiresInSeconds: status === 'pending' ? Math.ceil((row.expiresAt - nowMs) / secondMs) : 0,
    usedAt: isoOrNull(row.usedAt),
    deviceId: row.deviceId,
  };
}

/** Pairing codes: made for a screen, watched, cancelled (docs/protocol.md §4). */
export function makeCodes(deps: ServiceDependencies, codeTtlMinutes: number) {
  const { store, clock } = deps;

  const change = (verb: string, row: PairingCode) => ({
    action: `code.${verb}`,
    subject: { kind: 'screen', id: row.screenId },
    tenantId: row.tenantId,
    venueIds: venuesOf('pairing_code', row),
  });

  async function lookUpCode(reader: Reader, caller: Caller, code: string): Promise<PairingCode> {
    const row = pairingCodeText.safeParse(code).success
      ? await reader.get('codes', hashCode(store.secret, code))
      : undefined;
    if (
      !row ||
      row.tenantId !== caller.tenantId ||
      !isWithin(caller, venuesOf('pairing_code', row))
    ) {
      throw new SignageError(
        'pairing_code_not_found',
        'There is no such pairing code: check it, or make a new one.',
      );
    }
    return row;
  }

  /** Makes room for one more code of the screen; answers when that one is made. */
  async function cancelOldest(tx: Tx, screen: Screen): Promise<number> {
    const live = (await tx.select('codes', 'screenId', [screen.id])).filter(
      (code) => codeStatusAt(code, tx.now) === 'pending',
    );
    live.sort((a, b) => a.createdAt - b.createdAt);
    for (const code of live.slice(0, Math.max(0, live.length - mostLiveCodes + 1))) {
      await tx.put('codes', { ...code, state: 'cancelled', cancelledAt: tx.now });
    }
    // Of two in one millisecond the later one is the newer all the same.
    return Math.max(tx.now, (live.at(-1)?.createdAt ?? 0) + 1);
  }

  async function createIn(
    tx: Tx,
    caller: Caller,
    screenId: string,
    code: string,
  ): Promise<CreatedCode> {
    const screen = await lookUp(tx, caller, 'screen', screenId);
    if (screen.state === 'active') {
      const detail = `The screen ${JSON.stringify(screen.name)} has a device: revoke it first (POST /v1/devices/${screen.deviceId}/revoke).`;
      throw new SignageError('screen_already_bound', detail);
    }
    const id = hashCode(store.secret, code);
    if (await tx.get('codes', id))
      throw new SignageError('conflict', 'This code is still remembered.');
    const createdAt = await cancelOldest(tx, screen);
    const ends = { usedAt: null, cancelledAt: null, deviceId: null, answeredConfig: null };
    const times = { createdAt, expiresAt: tx.now + codeTtlMinutes * minuteMs };
    const { tenantId, venueId } = screen;
    const row: PairingCode = {
      id,
      tenantId,
      venueId,
      screenId: screen.id,
      state: 'pending',
      ...times,
      ...ends,
    };
    await tx.put('codes', row);
    await recordChange(deps, tx, caller, change('create', row));
    const { usedAt: _usedAt, deviceId: _deviceId, ...created } = codeView(row, code, tx.now);
    return created;
  }

  /** Throws `screen_not_found`, `screen_already_bound`. */
  async function create(caller: TenantCaller, screenId: string): Promise<CreatedCode> {
    for (let tries = 1; ; tries++) {
      const code = makeCode(deps.random);
      try {
        return await deps.write(caller, (tx) => createIn(tx, caller, screenId, code));
      } catch (error) {
        if (!hasCode(error, 'conflict') || tries === mostTries) throw error;
      }
    }
  }

  /** With `waitSeconds`, the answer is held until the status is another than at first. Throws `pairing_code_not_found`. */
  async function status(
    caller: Caller,
    code: string,
    waitSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<CodeStatusView> {
    const first = await lookUpCode(store.read, caller, code);
    if (waitSeconds === undefined) return codeView(first, code, clock.now());
    const forMs = Math.max(0, Math.min(waitSeconds * secondMs, first.expiresAt - clock.now()));
    const check = () => checkAuthority(store.read, caller, clock.now());
    return holdUntil(deps, { topic: `codes/${first.id}`, forMs, signal, check }, async () => {
      const row = await lookUpCode(store.read, caller, code);
      return {
        value: codeView(row, code, clock.now()),
        settled: codeStatusAt(row, clock.now()) !== 'pending',
      };
    });
  }

  /** Throws `pairing_code_not_found`, `pairing_code_not_pending`. */
  async function cancel(caller: Caller, code: string): Promise<void> {
    await deps.write(caller, async (tx) => {
      const row = await lookUpCode(tx, caller, code);
      const now = codeStatusAt(row, tx.now);
      if (now !== 'pending')
        throw new SignageError(
          'pairing_code_not_pending',
          `The code is ${now} already: there is nothing to cancel.`,
        );
      await tx.put('codes', { ...row, state: 'cancelled', cancelledAt: tx.now });
      await recordChange(deps, tx, caller, change('cancel', row));
    });
  }

  return { create, status, cancel, lookUp: lookUpCode };
}
