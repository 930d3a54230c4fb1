import type { Tx } from '../../store.ts';
import type { TrailChain } from '../audit/trail-chain.ts';
import type { Journal } from '../journal/journal.ts';
import type { Durable } from '../journal/journal-replay.ts';
import { unavailable } from '../log/group-log.ts';
import type { OnDiskTable } from '../parts.ts';
import { type CommittedRows, WriteSet } from './layer.ts';
import { Transaction } from './transaction.ts';

type Outcome<T> = { value: T } | { error: unknown };

/**
 * Runs changes one after another. What one has done is staged at once, so that the next sees it; it is folded into the base when its record is on the
 * disk, and only then is its caller answered. A change that did nothing, or threw, may have seen what is staged: it waits for that, too.
 */
export class Writer {
  readonly #base: CommittedRows;
  readonly #cold: OnDiskTable;
  readonly #journal: Journal;
  readonly #chain: TrailChain;
  readonly #fold: (durable: Durable) => void;
  #staged = new WriteSet();
  /** Counts failed groups: a change that began before one has seen what no longer is. */
  #failures = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #lastRecord: Promise<unknown> = Promise.resolve();

  /** `fold` makes a durable change visible to everyone. */
  constructor(
    base: CommittedRows,
    cold: OnDiskTable,
    { journal, chain }: { journal: Journal; chain: TrailChain },
    fold: (durable: Durable) => void,
  ) {
    this.#base = base;
    this.#cold = cold;
    this.#journal = journal;
    this.#chain = chain;
    this.#fold = fold;
    journal.onFailure = () => {
      this.#failures++;
      this.#staged = new WriteSet();
      this.#chain.stepBack();
      this.#lastRecord = Promise.resolve();
    };
  }

  async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    const staging = this.#turn.then(() => this.#stage(change));
    this.#turn = staging.catch(() => undefined);
    const { outcome, durable } = await staging;
    await durable;
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Waits until no change is under way. */
  async settled(): Promise<void> {
    await this.#turn;
    await this.#lastRecord.catch(() => undefined);
  }

  async #stage<T>(
    change: (tx: Tx) => Promise<T>,
  ): Promise<{ outcome: Outcome<T>; durable: Promise<unknown> }> {
    const failures = this.#failures;
    const tx = new Transaction(
      this.#journal.now(),
      this.#base,
      this.#cold,
      this.#staged,
      this.#chain.draft(),
    );
    const outcome = await run(change, tx);
    tx.end();
    if (failures !== this.#failures)
      throw unavailable('The change before this one could not be kept; nothing was changed.');
    if ('value' in outcome && tx.ops.length > 0) this.#append(tx);
    return { outcome, durable: this.#lastRecord };
  }

  #append({ now, ops, changes, entries, draft }: Transaction): void {
    if (this.#journal.broken) throw this.#journal.broken;
    this.#chain.stage(draft);
    const staged = this.#staged;
    for (const change of changes) staged.add(change);
    this.#lastRecord = this.#journal.append(now, ops, (seq) => {
      this.#fold({ seq, changes, entries });
      for (const change of changes) staged.drop(change);
    });
  }
}

async function run<T>(change: (tx: Tx) => Promise<T>, tx: Tx): Promise<Outcome<T>> {
  try {
    return { value: await change(tx) };
  } catch (error) {
    return { error };
  }
}
