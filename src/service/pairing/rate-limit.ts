import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { GuessCountersOfEach } from '../../store/store.ts';
import { type ClientInfo, recordChange, type SystemDependencies, system } from '../context.ts';
import { groupsOf, shownGroup, sourceOf } from './guess-source.ts';
import { countersOf, hasRoom, judged, sourceWindowMs, type Verdict } from './rate-policy.ts';
import type { TrustedSources } from './trusted-sources.ts';

export interface LockOut {
  /** Whether one source is refused, or all that no tenant trusts. */
  scope: 'source' | 'service';
  /** The source that was refused first: an IPv4 address, an IPv6 /64, /56 or /48, or `unknown`. */
  source: string;
}

export interface GuessRateLimit {
  /**
   * Judges a registration whose code was looked up: `owner` is the tenant of the code, `undefined`
   * when it is unknown. Counts unknown codes over sliding windows and all instances. Past the
   * limits of its source or of all sources it throws `too_many_attempts`, right or wrong. A trusted
   * source then still binds codes of the tenants that trust it, while it has tries of its own left
   * there (docs/protocol.md §3.5).
   */
  judge(from: ClientInfo, owner: string | undefined): Promise<void>;
}

function tooMany({ scope, waitMs }: Exclude<Verdict, undefined>): SignageError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
  const where = scope === 'source' ? 'this address' : 'many addresses';
  const detail = `Too many unknown pairing codes came from ${where}: wait ${retryAfterSeconds} seconds, then check the code on the screen's page.`;
  return new SignageError('too_many_attempts', detail, { retryAfterSeconds });
}

interface GuessLimitOptions {
  codeTtlMs: number;
  /** Called when a source, or all that are not trusted, begin to be refused. */
  onLockOut?: ((lockOut: LockOut) => void) | undefined;
}

export function makeGuessRateLimit(
  deps: SystemDependencies,
  trust: TrustedSources,
  { codeTtlMs, onLockOut = () => {} }: GuessLimitOptions,
): GuessRateLimit {
  const { store } = deps;

  /** Most registrations need no trust. The counters of tenants are read only for those that do. */
  async function verdictOn(source: string, owner: string | undefined): Promise<Verdict> {
    const groups = groupsOf(source);
    let vouching: readonly string[] = [];
    const judge = (known: GuessCountersOfEach, nowMs: number) =>
      judged(known, nowMs, { owner, groups, vouching, codeTtlMs });
    const verdict = await store.updateGuessCounters(
      countersOf({ groups, vouching }),
      (known, nowMs) => {
        vouching = hasRoom(known, nowMs, { groups, codeTtlMs })
          ? []
          : trust.of(source, known[0], nowMs);
        return vouching.length === 0 ? judge(known, nowMs) : { attempts: known, result: undefined };
      },
    );
    return vouching.length === 0
      ? verdict
      : store.updateGuessCounters(countersOf({ groups, vouching }), judge);
  }

  async function note(
    { scope, source }: LockOut,
    unknownCodes: number,
    from: ClientInfo,
  ): Promise<void> {
    onLockOut({ scope, source });
    const withinMs = scope === 'source' ? sourceWindowMs(codeTtlMs) : codeTtlMs;
    const change = {
      action: 'registration.locked_out',
      subject: { kind: scope, id: scope === 'source' ? source : null },
      tenantId: null,
      details: { unknownCodes, withinMinutes: withinMs / minuteMs },
    };
    await store.write((tx) => recordChange(deps, tx, { ...from, actor: system }, change));
  }

  return {
    async judge(from, owner) {
      const source = sourceOf(from.address);
      const verdict = await verdictOn(source, owner);
      if (!verdict) return;
      const { scope, begins, place, unknownCodes } = verdict;
      const refused = (groupsOf(source)[place] ?? { key: source }).key;
      if (begins) await note({ scope, source: shownGroup(refused) }, unknownCodes, from);
      throw tooMany(verdict);
    },
  };
}
