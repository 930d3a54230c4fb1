import { type ChangeOutcome, outcomeOf } from '../outcome.ts';
import type { Tx } from '../store.ts';
import { unavailable } from '../unavailable.ts';
import type { TrailChain } from './audit/trail-chain.ts';
import type { Journal } from './journal/journal.ts';
import type { Durable } from './journal-replay.ts';
import type { CommittedRows } from './rows/committed-rows.ts';
import type { DiskRows } from './rows/disk-rows.ts';
import { Transaction } from './rows/transaction.ts';
import { WriteSet } from './rows/write-set.ts';

interface WriterParts {
  journal: Journal;
  chain: TrailChain;
  /** Resolves when the next change may begin. */
  admit: () => Promise<void>;
  /** Makes a durable change visible to all readers. */
  apply: (durable: Durable) => void;
}

/**
 * Runs changes one at a time. A change is staged at once, so the next one reads it. When its
 * journal record is on disk, the change is applied to the committed rows and its caller gets the
 * result. A change that writes nothing or throws may have read staged rows. It therefore waits
 * until these are durable.
 */
export class Writer {
  readonly #admit: () => Promise<void>;
  readonly #base: CommittedRows;
  readonly #disk: DiskRows;
  readonly #journal: Journal;
  readonly #chain: TrailChain;
  readonly #apply: (durable: Durable) => void;
  #staged = new WriteSet();
  /** `journal.log.failures` that `#staged` takes into account. */
  #failures = 0;
  #staging: Promise<unknown> = Promise.resolve();
  #lastRecord: Promise<unknown> = Promise.resolve();

  constructor(base: CommittedRows, disk: DiskRows, { journal, chain, admit, apply }: WriterParts) {
    this.#base = base;
    this.#disk = disk;
    this.#journal = journal;
    this.#chain = chain;
    this.#admit = admit;
    this.#apply = apply;
  }

  async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    const staging = this.#staging.then(() => this.#stage(change));
    this.#staging = staging.catch(() => undefined);
    const { outcome, durable } = await staging;
    await durable;
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Waits for pending changes. */
  async settled(): Promise<void> {
    await this.#staging;
    await this.#lastRecord.catch(() => undefined);
  }

  async #stage<T>(
    change: (tx: Tx) => Promise<T>,
  ): Promise<{ outcome: ChangeOutcome<T>; durable: Promise<unknown> }> {
    await this.#admit();
    if (this.#hasFailed()) this.#rollBack();
    const tx = new Transaction(
      this.#journal.time(),
      this.#base,
      this.#disk,
      this.#staged,
      this.#chain.draft(),
    );
    const outcome = await outcomeOf(change, tx);
    tx.end();
    // The change may have read rows that were lost.
    if (this.#hasFailed())
      throw unavailable('An earlier change could not be written to disk; nothing was changed.');
    if ('value' in outcome && tx.ops.length > 0) this.#append(tx);
    return { outcome, durable: this.#lastRecord };
  }

  #hasFailed(): boolean {
    return this.#journal.log.failures !== this.#failures;
  }

  #rollBack(): void {
    this.#failures = this.#journal.log.failures;
    this.#staged = new WriteSet();
    this.#chain.rollBack();
    this.#lastRecord = Promise.resolve();
  }

  #append({ stamp, ops, changes, entries, draft }: Transaction): void {
    if (this.#journal.log.broken) throw this.#journal.log.broken;
    this.#chain.stage(draft);
    const staged = this.#staged;
    for (const change of changes) staged.add(change);
    this.#lastRecord = this.#journal.append(stamp, ops, (seq) => {
      this.#apply({ seq, changes, entries });
      for (const change of changes) staged.drop(change);
    });
  }
}
