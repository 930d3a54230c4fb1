import { hourMs } from '../../domain/clock.ts';
import type { GuessCounter } from '../../domain/records/rows.ts';
import type { Store } from '../../store/store.ts';

/** For how long a credential that worked at a source speaks for it. */
export const trustMs = 24 * hourMs;
/** Of more tenants than this, those count whose credentials worked there last: a guess is a try at the codes of all that count. */
const mostTenants = 8;
const mostToldAtOnce = 100;

export const never = Number.NEGATIVE_INFINITY;

/** When a credential of a tenant last worked at a source. */
export interface Use {
  source: string;
  tenantId: string;
  workedAt: number;
  /** When that was last put into the store. */
  toldAt: number;
}

type Vouched = readonly [tenantId: string, workedAt: number];

/** The tenants that the store remembers to have vouched for a source, while it counts. */
export function standingVouchers(known: GuessCounter | undefined, nowMs: number): Vouched[] {
  return Object.entries(known?.vouched ?? {}).filter(
    ([, workedAt]) => Math.abs(nowMs - workedAt) < trustMs,
  );
}

export function latestTenants(vouched: Iterable<Vouched>): Vouched[] {
  return [...vouched].sort(([, one], [, other]) => other - one).slice(0, mostTenants);
}

/** Puts into the store what is handed to it, many at a time and nobody waiting. What could not be told is told at its next use. */
export function makeTrustedSourceSync(
  store: Pick<Store, 'updateGuessCounters'>,
): (use: Use) => void {
  const untold = new Set<Use>();
  let isTelling = false;

  async function tellSome(uses: readonly Use[]): Promise<void> {
    const sources = [...new Set(uses.map(({ source }) => source))];
    try {
      await store.updateGuessCounters(sources, (known, nowMs) => ({
        attempts: known.map((one, place) =>
          uses.filter(({ source }) => source === sources[place]).reduce(vouchedFor(nowMs), one),
        ),
        result: undefined,
      }));
    } catch {
      for (const use of uses) use.toldAt = never;
    }
  }

  async function tell(): Promise<void> {
    isTelling = true;
    while (untold.size > 0) {
      const some = [...untold].slice(0, mostToldAtOnce);
      for (const use of some) untold.delete(use);
      await tellSome(some);
    }
    isTelling = false;
  }

  return (use) => {
    use.toldAt = use.workedAt;
    untold.add(use);
    if (!isTelling) void tell();
  };
}

const vouchedFor =
  (nowMs: number) =>
  (known: GuessCounter | undefined, { tenantId }: Use): GuessCounter => {
    const { times = [], waitUntil = 0, waitMs = 0, forgetAt = 0 } = known ?? {};
    const others = standingVouchers(known, nowMs).filter(([id]) => id !== tenantId);
    const vouched = Object.fromEntries(latestTenants([[tenantId, nowMs], ...others]));
    return { times, waitUntil, waitMs, forgetAt: Math.max(forgetAt, nowMs + trustMs), vouched };
  };
