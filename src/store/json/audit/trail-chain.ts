import type { Random } from '../../../domain/clock.ts';
import { type AuditLink, ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import { AuditVerifier } from '../../audit/audit-verifier.ts';
import type { AuditDrop, FilePart } from '../parts.ts';

/** The links that one change gives its entries. Nothing is taken from the chain before `TrailChain.stage`. */
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
 * The end of the audit trail's chain while the store is open. It runs ahead of the disk with the
 * changes that the journal is writing, and steps back with them when they fail. Its mark in the
 * manifest is the signed state.
 */
export class TrailChain implements FilePart<ChainState> {
  readonly name = 'chain';
  readonly #key: ChainKey;
  #state: ChainState = {};
  /** The links of the last durable entry, and of the last one that is on its way. */
  #durable: AuditLink | undefined;
  #staged: AuditLink | undefined;
  #writer = '';

  constructor(secret: Uint8Array) {
    this.#key = new ChainKey(secret);
  }

  draft(): ChainDraft {
    return new ChainDraft(this.#key, this.#writer, this.#staged);
  }

  /** The draft's change goes to the journal. */
  stage({ last }: ChainDraft): void {
    this.#staged = last;
  }

  /** An entry has become durable, or is replayed at start. */
  landed(link: AuditLink | undefined): void {
    if (link && link.seq > (this.#durable?.seq ?? 0)) this.#durable = link;
  }

  /** What was staged and has not landed never was. */
  stepBack(): void {
    this.#staged = this.#durable;
  }

  /**
   * Retention takes entries: the last of them becomes the start. Entries that do not verify get no
   * signature, so that they are missed from then on; answers false.
   */
  async startAfter({ day, entries }: AuditDrop): Promise<boolean> {
    const { head: _head, ...known } = this.#state;
    const { start } = known;
    const verifier = new AuditVerifier(this.#key, known);
    let last: AuditLink | undefined = start;
    let isSound = true;
    for await (const one of entries()) {
      if (start && one?.link && one.link.seq <= start.seq) continue;
      if (verifier.take(one).some(({ level }) => level === 'damage')) isSound = false;
      last = one?.link ?? last;
    }
    if (isSound && last) this.#state = { ...this.#state, start: this.#key.start(last, day) };
    return isSound;
  }

  /** What a start notes before the first change. `isNewLife`: the store is not the one that wrote what is there. */
  open(isNewLife: boolean, random: Random): ChainState {
    const { writer } = this.#state;
    this.#writer =
      writer === undefined || isNewLife ? Buffer.from(random(8)).toString('hex') : writer;
    this.stepBack();
    return this.state;
  }

  get key(): ChainKey {
    return this.#key;
  }

  get state(): ChainState {
    // Also before the first entry: a head that is missing was taken away.
    const last = this.#durable ?? { writer: this.#writer, seq: 0, mac: '' };
    return { ...this.#state, writer: this.#writer, head: this.#key.head(last) };
  }

  async recover(mark: ChainState = {}): Promise<void> {
    this.#state = mark;
    this.#durable = mark.head && this.#key.goOn(mark.head);
  }

  async prepare(): Promise<ChainState> {
    return this.state;
  }

  async committed(): Promise<void> {}

  async begin(): Promise<void> {}

  async close(): Promise<void> {}
}
