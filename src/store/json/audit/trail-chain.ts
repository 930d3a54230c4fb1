import type { Random } from '../../../domain/clock.ts';
import {
  type AuditLink,
  ChainKey,
  type ChainState,
  type SealedEntry,
} from '../../audit/audit-chain.ts';
import { startAfter } from '../../audit/audit-verifier.ts';
import type { MarkedPart } from '../disk/parts.ts';
import type { AuditDrop } from './audit-trail.ts';

/**
 * Creates the links for the entries of one change. The chain is unaffected until
 * `TrailChain.stage`.
 */
export class ChainDraft {
  last: AuditLink | undefined;
  readonly #key: ChainKey;
  readonly #writer: string;

  constructor(key: ChainKey, writer: string, last: AuditLink | undefined) {
    this.#key = key;
    this.#writer = writer;
    this.last = last;
  }

  link(text: string): AuditLink {
    this.last = this.#key.link(this.#writer, this.last, text);
    return this.last;
  }
}

/**
 * End of the audit trail's hash chain while the store is open. It advances when a change goes to
 * the journal, and is rolled back if the journal fails to write. The manifest has its signed state.
 */
export class TrailChain implements MarkedPart<ChainState> {
  readonly name = 'chain';
  readonly #key: ChainKey;
  #state: ChainState = {};
  /**
   * `#durable`: link of the last durable entry. `#staged`: link of the last entry that went to the
   * journal.
   */
  #durable: AuditLink | undefined;
  #staged: AuditLink | undefined;
  #writer = '';

  constructor(secret: Uint8Array) {
    this.#key = new ChainKey(secret);
  }

  draft(): ChainDraft {
    return new ChainDraft(this.#key, this.#writer, this.#staged);
  }

  /** Call when the draft's change goes to the journal. */
  stage({ last }: ChainDraft): void {
    this.#staged = last;
  }

  /** Call when an entry became durable or is replayed at start. */
  onDurable(link: AuditLink): void {
    if (link.seq > (this.#durable?.seq ?? 0)) this.#durable = link;
  }

  /** Discards staged links that did not become durable. */
  rollBack(): void {
    this.#staged = this.#durable;
  }

  /**
   * Call before retention deletes entries. Signs a new start of the chain: the link of the last
   * entry to be deleted. If the entries do not verify, it signs nothing and returns false. Later
   * verifications then report the deleted entries as missing.
   */
  async startAfter({ day, entries }: AuditDrop): Promise<boolean> {
    const { isValid, start } = await startAfter(this.#key, this.#state, this.#kept(entries()), day);
    if (isValid && start) this.#state = { ...this.#state, start };
    return isValid;
  }

  /** Skips the entries up to the start, which an interrupted purge has left behind. */
  async *#kept(
    entries: AsyncIterable<SealedEntry | undefined>,
  ): AsyncGenerator<SealedEntry | undefined> {
    const { start } = this.#state;
    for await (const one of entries) if (!start || !one || one.link.seq > start.seq) yield one;
  }

  /**
   * Returns the state to store before the first change. `isNewStore`: the data was written by
   * another store, so a new writer id is created.
   */
  open(isNewStore: boolean, random: Random): ChainState {
    const { writer } = this.#state;
    this.#writer =
      writer === undefined || isNewStore ? Buffer.from(random(8)).toString('hex') : writer;
    this.rollBack();
    return this.state;
  }

  get key(): ChainKey {
    return this.#key;
  }

  get state(): ChainState {
    // The head is stored even before the first entry, so that a missing head is detected.
    const last = this.#durable ?? { writer: this.#writer, seq: 0, mac: '' };
    return { ...this.#state, writer: this.#writer, head: this.#key.head(last) };
  }

  async recover(state: ChainState = {}): Promise<void> {
    this.#state = state;
    this.#durable = state.head && this.#key.resumeFrom(state.head);
  }

  async prepare(): Promise<ChainState> {
    return this.state;
  }
}
