import { minuteMs, secondMs } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { type Origin, recordChange, type SystemKit, system } from './context.ts';
import { hasRoom, judged, ofAll, ofSource, ofSourceMs, type Verdict } from './guess-verdict.ts';
import { sourceOf, type Trust } from './trust.ts';

/** What is counted over several sources has names that no source has. */
const all = '*';
const tenantsOwn = (tenantId: string) => `tenant/${tenantId}`;

export interface LockOut {
  /** Whether one source is refused, or all that no tenant vouches for. */
  scope: 'source' | 'service';
  /** The one whose registration was refused first: an IPv4 address, or the /64 of an IPv6 address. */
  source: string;
}

export interface GuessLimit {
  /**
   * Judges a registration whose code was looked up: `owner` is the tenant of the code, `undefined` when it is unknown. Counts unknown codes only, over sliding
   * windows and all instances, and past ten of a source in 15 minutes or 128 of all in one lifetime of a code throws `too_many_attempts`, right or wrong. A
   * source that a tenant's credentials vouch for goes on with that tenant's codes, for 60 more that are none (docs/protocol.md §3.5).
   */
  judge(from: Origin, owner: string | undefined): Promise<void>;
}

const shown = (source: string) => (source.includes(':') ? `${source}::/64` : source);

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

export function makeGuessLimit(kit: SystemKit, trust: Trust, { codeTtlMs, onLockOut = () => {} }: GuessLimitOptions): GuessLimit {
  const { store } = kit;

  /** Most need no trust; only then it is asked for what tenants have left. */
  async function verdictOn(source: string, owner: string | undefined): Promise<Verdict> {
    let vouching: readonly string[] = [];
    const verdict = await store.attempts([source, all], (known, nowMs) => {
      vouching = hasRoom(known, nowMs, codeTtlMs) ? [] : trust.of(source, known[0], nowMs);
      return vouching.length === 0 ? judged(known, nowMs, { owner, vouching, codeTtlMs }) : { attempts: known, result: undefined };
    });
    if (vouching.length === 0) return verdict;
    const keys = [source, all, ...vouching.map(tenantsOwn)];
    return store.attempts(keys, (known, nowMs) => judged(known, nowMs, { owner, vouching, codeTtlMs }));
  }

  async function note({ scope, source }: LockOut, from: Origin): Promise<void> {
    onLockOut({ scope, source });
    const [unknownCodes, withinMs] = scope === 'source' ? [ofSource, ofSourceMs] : [ofAll, codeTtlMs];
    const change = {
      action: 'registration.locked_out',
      subject: { kind: scope, id: scope === 'source' ? source : null },
      tenantId: null,
      details: { unknownCodes, withinMinutes: withinMs / minuteMs },
    };
    await store.write((tx) => recordChange(kit, tx, { ...from, actor: system }, change));
  }

  return {
    async judge(from, owner) {
      const source = sourceOf(from.address);
      const verdict = await verdictOn(source, owner);
      if (verdict?.begins) await note({ scope: verdict.scope, source: shown(source) }, from);
      if (verdict) throw tooMany(verdict);
    },
  };
}
