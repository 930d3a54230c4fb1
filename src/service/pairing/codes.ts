import { iso, isoOrNull, minuteMs, secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import {
  type CodeCreation,
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
  type AuditChange,
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import {
  type BeginCreation,
  type IdempotentRequest,
  notRepeatable,
  prepareCreation,
} from '../creations.ts';
import { longPoll } from '../long-poll.ts';
import { isInScope, lookUp, venuesOf } from '../lookup.ts';

/** Limit of pending codes per screen. A further code cancels the oldest one. */
const maxPendingCodes = 5;
/**
 * Maximum number of attempts to generate an unused code. With 31^8 codes, even one collision with a
 * stored code is rare.
 */
const maxAttempts = 8;

function codeView(row: PairingCode, code: string, nowMs: number): CodeStatusView {
  const status = codeStatusAt(row, nowMs);
  return {
    code,
    screenId: row.screenId,
    status,
    simulated: row.simulated,
    createdAt: iso(row.createdAt),
    expiresAt: iso(row.expiresAt),
    expiresInSeconds: status === 'pending' ? Math.ceil((row.expiresAt - nowMs) / secondMs) : 0,
    usedAt: isoOrNull(row.usedAt),
    deviceId: row.deviceId,
  };
}

/**
 * Retries `create` after a `conflict`, because the random code or claim may already exist. Makes at
 * most 8 attempts.
 */
export async function untilUnused<T>(create: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create(attempt);
    } catch (error) {
      if (!hasCode(error, 'conflict') || attempt === maxAttempts) throw error;
    }
  }
}

export const screenAlreadyBound = ({ name, deviceId }: Screen) =>
  new SignageError(
    'screen_already_bound',
    `The screen ${JSON.stringify(name)} has a device: revoke it first (POST /v1/devices/${deviceId}/revoke).`,
  );

/** Pairing codes: creates, watches and cancels them (docs/protocol.md §4). */
export function makeCodes(deps: ServiceDependencies, codeTtlMinutes: number) {
  const { store, clock } = deps;

  const change = (verb: AuditVerb<'code'>, row: PairingCode): AuditChange => ({
    action: `code.${verb}`,
    subject: { kind: 'screen', id: row.screenId },
    tenantId: row.tenantId,
    venueIds: venuesOf('pairing_code', row),
  });

  async function lookUpCode(
    reader: Reader,
    principal: Principal,
    code: string,
  ): Promise<PairingCode> {
    const row = pairingCodeText.safeParse(code).success
      ? await reader.get('codes', hashCode(store.secret, code))
      : undefined;
    if (
      !row ||
      row.tenantId !== principal.tenantId ||
      !isInScope(principal, venuesOf('pairing_code', row))
    ) {
      throw new SignageError(
        'pairing_code_not_found',
        'Unknown pairing code: check it, or create a new one.',
      );
    }
    return row;
  }

  /**
   * Cancels the oldest pending codes, to make room for one more. Returns the creation time of the
   * new code.
   */
  async function cancelOldest(tx: Tx, screen: Screen): Promise<number> {
    const pending = (await tx.select('codes', 'screenId', [screen.id])).filter(
      (code) => codeStatusAt(code, tx.now) === 'pending',
    );
    pending.sort((a, b) => a.createdAt - b.createdAt);
    for (const code of pending.slice(0, Math.max(0, pending.length - maxPendingCodes + 1))) {
      await tx.put('codes', { ...code, state: 'cancelled', cancelledAt: tx.now });
    }
    // Creation times of a screen's codes are distinct, so that they define an order even within one
    // millisecond.
    return Math.max(tx.now, (pending.at(-1)?.createdAt ?? 0) + 1);
  }

  function createdView(row: PairingCode, code: string, nowMs: number): CreatedCode {
    const { usedAt: _usedAt, deviceId: _deviceId, ...created } = codeView(row, code, nowMs);
    return created;
  }

  /** Repeats the response of a creation, while the code is pending. Throws `not_repeatable`. */
  async function repeatCreation(tx: Tx, principal: Principal, code: string): Promise<CreatedCode> {
    try {
      const row = await lookUpCode(tx, principal, code);
      if (codeStatusAt(row, tx.now) === 'pending') return createdView(row, code, tx.now);
    } catch (error) {
      if (!hasCode(error, 'pairing_code_not_found')) throw error;
    }
    throw notRepeatable('the code is no longer pending. Use a new key to create another.');
  }

  /** Adds a code for a screen. Throws `screen_already_bound`, or `conflict` if the code exists. */
  async function add(
    tx: Tx,
    screen: Screen,
    { simulated = false, ticketId }: { simulated?: boolean; ticketId?: string | undefined },
    code: string,
  ): Promise<PairingCode> {
    if (screen.state === 'active') throw screenAlreadyBound(screen);
    const id = hashCode(store.secret, code);
    if (await tx.get('codes', id)) throw new SignageError('conflict', 'This code exists already.');
    const createdAt = await cancelOldest(tx, screen);
    const { tenantId, venueId } = screen;
    const row: PairingCode = {
      id,
      tenantId,
      venueId,
      screenId: screen.id,
      state: 'pending',
      createdAt,
      expiresAt: tx.now + codeTtlMinutes * minuteMs,
      usedAt: null,
      cancelledAt: null,
      deviceId: null,
      answeredConfig: null,
      simulated,
      ...(ticketId !== undefined && { ticketId }),
    };
    await tx.put('codes', row);
    return row;
  }

  async function createIn(
    tx: Tx,
    principal: Principal,
    wanted: CodeCreation,
    begin: BeginCreation,
  ): Promise<CreatedCode> {
    const creation = await begin(tx);
    const code = makeCode(creation.random);
    if (creation.earlierId !== undefined) return repeatCreation(tx, principal, code);
    const { screenId, simulated = false } = wanted;
    const screen = await lookUp(tx, principal, 'screen', screenId);
    const row = await add(tx, screen, { simulated }, code);
    await creation.remember(row.id);
    await recordChange(deps, tx, principal, change('create', row));
    return createdView(row, code, tx.now);
  }

  /** Throws `screen_not_found`, `screen_already_bound`, `not_repeatable`. */
  async function create(
    principal: TenantPrincipal,
    wanted: CodeCreation,
    request?: IdempotentRequest,
  ): Promise<CreatedCode> {
    const begin = await prepareCreation(deps, principal, request);
    return untilUnused(() => deps.write(principal, (tx) => createIn(tx, principal, wanted, begin)));
  }

  /**
   * Returns the status of a code. With `waitSeconds`, long-polls until it is no longer pending.
   * Throws `pairing_code_not_found`.
   */
  async function status(
    principal: Principal,
    code: string,
    waitSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<CodeStatusView> {
    const first = await lookUpCode(store.read, principal, code);
    if (waitSeconds === undefined) return codeView(first, code, clock.now());
    const forMs = Math.max(0, Math.min(waitSeconds * secondMs, first.expiresAt - clock.now()));
    const check = () => checkAuthority(store.read, principal, clock.now());
    return longPoll(deps, { topics: [`codes/${first.id}`], forMs, signal, check }, async () => {
      const row = await lookUpCode(store.read, principal, code);
      return {
        value: codeView(row, code, clock.now()),
        settled: codeStatusAt(row, clock.now()) !== 'pending',
      };
    });
  }

  /** Throws `pairing_code_not_found`, `pairing_code_not_pending`. */
  async function cancel(principal: Principal, code: string): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUpCode(tx, principal, code);
      const currentStatus = codeStatusAt(row, tx.now);
      if (currentStatus !== 'pending')
        throw new SignageError(
          'pairing_code_not_pending',
          `The code is already ${currentStatus}: it cannot be cancelled.`,
        );
      await tx.put('codes', { ...row, state: 'cancelled', cancelledAt: tx.now });
      await recordChange(deps, tx, principal, change('cancel', row));
    });
  }

  return { create, add, repeatCreation, createdView, status, cancel, lookUp: lookUpCode };
}

export type Codes = ReturnType<typeof makeCodes>;
