import { minuteMs } from '../../domain/clock.ts';
import { type Caller, recordChange, type SystemDependencies } from '../context.ts';

/** Pairs of token and operation that are counted by themselves at a time; further ones share one count. */
const mostPairs = 1000;

/** A known token that was refused, and where. */
export type Denied = Pick<
  Caller,
  'actor' | 'role' | 'tenantId' | 'venueIds' | 'address' | 'requestId'
>;

interface Pair {
  by: Denied;
  operation: string;
  /** Refusals that no entry tells of yet. */
  count: number;
}

/**
 * Records for the audit trail that known tokens were refused with 403 (docs/protocol.md §5.7). The
 * first refusal of a token and an operation is written at once, the further ones of the same minute
 * as a count at its end. No request waits for it.
 */
export function makeDenials(deps: SystemDependencies) {
  const pairs = new Map<string, Pair>();
  let writing: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  function record(by: Denied, operation: string): void {
    const isFull = pairs.size >= mostPairs;
    const key = `${by.actor.id}/${operation}`;
    const pair = pairs.get(key) ?? pairs.get(isFull ? '' : key);
    if (pair) pair.count++;
    else begin(isFull ? '' : key, { by, operation, count: 1 });
    cancel ??= deps.clock.after(minuteMs, endMinute);
  }

  function begin(key: string, pair: Pair): void {
    pairs.set(key, pair);
    write([pair]);
  }

  function endMinute(): void {
    cancel = undefined;
    const counted = [...pairs.values()].filter(({ count }) => count > 0);
    pairs.clear();
    write(counted);
  }

  /** What cannot be written is counted to the next entry of the pair. */
  function write(due: readonly Pair[]): void {
    const entries = due.map((pair) => ({ pair, count: pair.count }));
    for (const { pair, count } of entries) pair.count -= count;
    if (entries.length === 0) return;
    const written = deps.store.write(async (tx) => {
      for (const { pair, count } of entries)
        await recordChange(deps, tx, { ...pair.by }, changeOf(pair, count));
    });
    writing = Promise.all([writing, written]).then(
      () => undefined,
      () => keep(entries),
    );
  }

  function keep(entries: readonly { pair: Pair; count: number }[]): void {
    for (const { pair, count } of entries) {
      const key = `${pair.by.actor.id}/${pair.operation}`;
      const known = pairs.get(key);
      if (known) known.count += count;
      else if (pairs.size < mostPairs) pairs.set(key, { ...pair, count });
    }
    cancel ??= deps.clock.after(minuteMs, endMinute);
  }

  return {
    record,
    /** Writes all counts, and waits for it. */
    async stop(): Promise<void> {
      cancel?.();
      endMinute();
      await writing;
      cancel?.();
    },
  };
}

export type Denials = ReturnType<typeof makeDenials>;

function changeOf({ by, operation }: Pair, count: number) {
  const { actor, role, tenantId, venueIds } = by;
  const details = { operation, role, count };
  return {
    action: 'access.denied',
    subject: { kind: 'token', id: actor.id },
    tenantId,
    ...(venueIds && { venueIds }),
    details,
  };
}
