import { minuteMs } from '../../domain/clock.ts';
import { type Caller, recordChange, type SystemDependencies } from '../context.ts';

/**
 * Limit of pairs of token and operation with a count of their own. All further pairs share one
 * count.
 */
const maxPairs = 1000;

/** A known token that was rejected, and its client. */
export type DeniedCaller = Pick<
  Caller,
  'actor' | 'role' | 'tenantId' | 'venueIds' | 'address' | 'requestId'
>;

interface Pair {
  caller: DeniedCaller;
  operation: string;
  /** Denials that no audit entry includes yet. */
  count: number;
}

/**
 * Records in the audit trail that known tokens were rejected with 403 (docs/protocol.md §5.7).
 * Writes the first denial of a token and operation at once. Further ones are counted, and written
 * once a minute. No request waits for the write.
 */
export function makeDenials(deps: SystemDependencies) {
  const pairs = new Map<string, Pair>();
  let writing: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  function record(caller: DeniedCaller, operation: string): void {
    const isFull = pairs.size >= maxPairs;
    const key = `${caller.actor.id}/${operation}`;
    const pair = pairs.get(key) ?? pairs.get(isFull ? '' : key);
    if (pair) pair.count++;
    else addPair(isFull ? '' : key, { caller, operation, count: 1 });
    cancel ??= deps.clock.after(minuteMs, flush);
  }

  function addPair(key: string, pair: Pair): void {
    pairs.set(key, pair);
    write([pair]);
  }

  function flush(): void {
    cancel = undefined;
    const counted = [...pairs.values()].filter(({ count }) => count > 0);
    pairs.clear();
    write(counted);
  }

  /** Counts of failed writes are added to the next entry of the pair. */
  function write(pairsToWrite: readonly Pair[]): void {
    const entries = pairsToWrite.map((pair) => ({ pair, count: pair.count }));
    for (const { pair, count } of entries) pair.count -= count;
    if (entries.length === 0) return;
    const written = deps.store.write(async (tx) => {
      for (const { pair, count } of entries)
        await recordChange(deps, tx, { ...pair.caller }, changeOf(pair, count));
    });
    writing = Promise.all([writing, written]).then(
      () => undefined,
      () => restore(entries),
    );
  }

  function restore(entries: readonly { pair: Pair; count: number }[]): void {
    for (const { pair, count } of entries) {
      const key = `${pair.caller.actor.id}/${pair.operation}`;
      const existing = pairs.get(key);
      if (existing) existing.count += count;
      else if (pairs.size < maxPairs) pairs.set(key, { ...pair, count });
    }
    cancel ??= deps.clock.after(minuteMs, flush);
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

function changeOf({ caller, operation }: Pair, count: number) {
  const { actor, role, tenantId, venueIds } = caller;
  const details = { operation, role, count };
  return {
    action: 'access.denied',
    subject: { kind: 'token', id: actor.id },
    tenantId,
    ...(venueIds && { venueIds }),
    details,
  };
}
