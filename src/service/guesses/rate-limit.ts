import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { GuessCountersOfEach } from '../../store/store.ts';
import {
  type AuditChange,
  type ClientInfo,
  recordChange,
  type SystemDependencies,
  system,
} from '../context.ts';
import { putNotice } from '../notices/outbox.ts';
import { formatGroup, groupsOf, sourceOf } from './guess-source.ts';
import {
  applyRatePolicy,
  counterKeysOf,
  type GuessQuota,
  isWithinLimits,
  quotaOf,
  type RateDecision,
  sourceWindowMs,
} from './rate-policy.ts';
import type { TrustedSources } from './trusted-sources.ts';

export interface LockOut {
  /**
   * `source`: one source is refused. `service`: all sources are refused, except those that a tenant
   * trusts.
   */
  scope: 'source' | 'service';
  /**
   * The source whose refusal began the lock-out: an IPv4 address, an IPv6 /64, /56 or /48, or
   * `unknown`.
   */
  source: string;
}

export interface GuessRateLimit {
  /**
   * Applies the rate policy to a registration (docs/protocol.md §3.5). `owner` is the tenant of
   * the code, or `undefined` for an unknown code. Counts unknown codes in sliding windows across
   * all instances. Beyond the limits it throws `too_many_attempts`, even for a correct code. A
   * trusted source can still bind codes of a tenant that trusts it, while it has guesses left for
   * that tenant. Calls `onQuota` before it resolves or rejects.
   */
  judge(
    client: ClientInfo,
    owner: string | undefined,
    onQuota?: (quota: GuessQuota) => void,
  ): Promise<void>;
}

function tooManyAttempts({ scope, waitMs }: Exclude<RateDecision, undefined>): SignageError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  const where = scope === 'source' ? 'this address' : 'many addresses';
  const detail = `Too many unknown pairing codes from ${where}: wait ${retryAfterSeconds} seconds, then check the code, or create a new one.`;
  return new SignageError('too_many_attempts', detail, { retryAfterSeconds });
}

interface GuessJudgement {
  decision: RateDecision;
  quota: GuessQuota;
}

interface GuessLimitOptions {
  codeTtlMs: number;
  /** Called when a lock-out begins, either of one source or of all untrusted sources. */
  onLockOut?: ((lockOut: LockOut) => void) | undefined;
}

export function makeGuessRateLimit(
  deps: SystemDependencies,
  trustedSources: TrustedSources,
  { codeTtlMs, onLockOut = () => {} }: GuessLimitOptions,
): GuessRateLimit {
  const { store } = deps;

  /**
   * Reads the counters of tenants only if the source is beyond the limits, because most
   * registrations are within them.
   */
  async function applyPolicy(source: string, owner: string | undefined): Promise<GuessJudgement> {
    const groups = groupsOf(source);
    let trustingTenants: readonly string[] = [];
    const decide = (counters: GuessCountersOfEach, nowMs: number) => {
      const attempt = { owner, groups, trustingTenants, codeTtlMs };
      const { attempts, result: decision } = applyRatePolicy(counters, nowMs, attempt);
      const quota = quotaOf(attempts, nowMs, attempt);
      return { attempts, result: { decision, quota } };
    };
    const judgement = await store.updateGuessCounters<GuessJudgement | undefined>(
      counterKeysOf({ groups, trustingTenants }),
      (counters, nowMs) => {
        trustingTenants = isWithinLimits(counters, nowMs, { groups, codeTtlMs })
          ? []
          : trustedSources.of(source, counters[0], nowMs);
        return trustingTenants.length === 0
          ? decide(counters, nowMs)
          : { attempts: counters, result: undefined };
      },
    );
    return (
      judgement ?? store.updateGuessCounters(counterKeysOf({ groups, trustingTenants }), decide)
    );
  }

  async function recordLockOut(
    { scope, source }: LockOut,
    unknownCodes: number,
    client: ClientInfo,
  ): Promise<void> {
    onLockOut({ scope, source });
    const withinMs = scope === 'source' ? sourceWindowMs(codeTtlMs) : codeTtlMs;
    const details = { unknownCodes, withinMinutes: withinMs / minuteMs };
    const change: AuditChange = {
      action: 'registration.locked_out',
      subject: { kind: scope, id: scope === 'source' ? source : null },
      tenantId: null,
      details,
    };
    await store.write(async (tx) => {
      await recordChange(deps, tx, { ...client, actor: system }, change);
      const data = { scope, source, ...details };
      await putNotice(deps, tx, { type: 'registration.locked_out', tenantId: null, data });
    });
  }

  return {
    async judge(client, owner, onQuota = () => {}) {
      const source = sourceOf(client.address);
      const { decision, quota } = await applyPolicy(source, owner);
      onQuota(decision ? { ...quota, remaining: 0, resetMs: decision.waitMs } : quota);
      if (!decision) return;
      const { scope, isFirstRefusal, index, unknownCodes } = decision;
      const refusedGroup = (groupsOf(source)[index] ?? { key: source }).key;
      if (isFirstRefusal)
        await recordLockOut({ scope, source: formatGroup(refusedGroup) }, unknownCodes, client);
      throw tooManyAttempts(decision);
    },
  };
}
