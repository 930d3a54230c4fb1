import { minuteMs } from '../../domain/clock.ts';
import {
  type AuditChange,
  type Principal,
  recordChange,
  type SystemDependencies,
} from '../context.ts';

/**
 * Limit of pairs of token and operation that have a count of their own. All further pairs share one
 * count.
 */
const maxPairs = 1000;

/** A known token whose request was rejected, and its client. */
export type DeniedPrincipal = Pick<
  Principal,
  'actor' | 'role' | 'tenantId' | 'venueIds' | 'address' | 'requestId'
>;

interface Pair {
  principal: DeniedPrincipal;
  operation: string;
  /** Denials not yet written to the audit trail. */
  count: number;
}

/**
 * Records in the audit trail that requests of known tokens were rejected with 403 (docs/protocol.md
 * §5.7). The first denial of a token and operation is written at once. Further ones are counted,
 * and the count is written once a minute. No request waits for the write.
 */
export function makeDenials(deps: SystemDependencies) {
  const pairs = new Map<string, Pair>();
  let writing: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  function record(principal: DeniedPrincipal, operation: string): void {
    const ownKey = `${principal.actor.id}/${operation}`;
    const key = pairs.has(ownKey) || pairs.size < maxPairs ? ownKey : '';
    const known = pairs.get(key);
    if (known) known.count++;
    else {
      const pair = { principal, operation, count: 1 };
      pairs.set(key, pair);
      write([pair]);
    }
    cancel ??= deps.clock.after(minuteMs, flush);
  }

  /**
   * Writes counts after all earlier writes. A count that could not be written stays for the next
   * write.
   */
  function write(pairsToWrite: readonly Pair[]): void {
    const writeCounts = async () => {
      const entries = pairsToWrite.map((pair) => ({ pair, count: pair.count }));
      const counted = entries.filter(({ count }) => count > 0);
      if (counted.length === 0) return;
      await deps.store.write(async (tx) => {
        for (const { pair, count } of counted)
          await recordChange(deps, tx, { ...pair.principal }, changeOf(pair, count));
      });
      for (const { pair, count } of counted) pair.count -= count;
    };
    writing = writing.then(writeCounts).catch(() => undefined);
  }

  /**
   * Writes all counts, and then forgets the pairs, so that their next denial is written at once.
   */
  function flush(): void {
    cancel = undefined;
    write([...pairs.values()]);
    writing = writing.then(() => {
      for (const [key, { count }] of pairs) if (count === 0) pairs.delete(key);
      if (pairs.size > 0) cancel ??= deps.clock.after(minuteMs, flush);
    });
  }

  return {
    record,
    /** Writes all counts and waits for the writes. */
    async stop(): Promise<void> {
      cancel?.();
      flush();
      await writing;
      cancel?.();
    },
  };
}

export type Denials = ReturnType<typeof makeDenials>;

function changeOf({ principal, operation }: Pair, count: number): AuditChange {
  const { actor, role, tenantId, venueIds } = principal;
  const details = { operation, role, count };
  return {
    action: 'access.denied',
    subject: { kind: 'token', id: actor.id },
    tenantId,
    ...(venueIds && { venueIds }),
    details,
  };
}
