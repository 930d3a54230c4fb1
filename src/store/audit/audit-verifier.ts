import { iso } from '../../domain/clock.ts';
import type { AuditLink, ChainKey, ChainState, SealedEntry } from './audit-chain.ts';

/** Something wrong with the trail, or worth knowing (`note`), and where. */
export interface AuditFinding {
  level: 'damage' | 'note';
  writer: string | null;
  sequence: number | null;
  at: string | null;
  id: string | null;
  what: string;
}

/** A head that was written down elsewhere. */
export interface KeptHead {
  writer: string;
  sequence: number;
  mac: string;
}

export interface AuditSummary {
  /** All entries, and those of earlier versions that carry no MAC. */
  entries: number;
  unlinked: number;
  /** The first entry that carries a MAC. */
  first: KeptHead | null;
  head: KeptHead | null;
}

/** The last time that a date can have. */
const latestMs = 8.64e15;

const range = (from: number, to: number) =>
  from === to ? `entry ${from} is` : `entries ${from} to ${to} are`;

/** The JSON text of an entry; `undefined` for what has none, such as one that is nested too deeply. */
function textOf(entry: unknown): string | undefined {
  try {
    return JSON.stringify(entry);
  } catch {
    return undefined;
  }
}

/** Follows the chain over all entries of a trail, which come in their order. */
export class AuditVerifier {
  readonly #key: ChainKey;
  readonly #state: ChainState;
  readonly #kept: KeptHead | undefined;
  readonly #summary: AuditSummary = { entries: 0, unlinked: 0, first: null, head: null };
  #last: AuditLink | undefined;
  #found: AuditFinding[] = [];

  constructor(key: ChainKey, state: ChainState = {}, kept?: KeptHead) {
    this.#key = key;
    this.#state = state;
    this.#kept = kept;
    const { start } = state;
    if (start === undefined) return;
    if (key.isStart(start)) this.#last = start;
    else this.#add(start, 'the signed start of the trail is not what was written');
  }

  get summary(): AuditSummary {
    return this.#summary;
  }

  /** Takes the next entry, `undefined` for one that cannot be read; answers what is wrong there. */
  take(sealed: SealedEntry | undefined): AuditFinding[] {
    this.#summary.entries++;
    const { entry, link } = sealed ?? {};
    const place = { ...link, ...(entry && { id: entry.id, at: entry.at }) };
    const text = textOf(entry);
    if (text === undefined) this.#add(place, 'this is no entry');
    else if (link) this.#follow(link, text, (what, level) => this.#add(place, what, level));
    else {
      this.#summary.unlinked++;
      if (this.#last)
        this.#add(
          place,
          'the entry carries no MAC though entries before it do: inserted, or its MAC was removed',
        );
    }
    return this.#handOut();
  }

  /** No entry comes any more. Answers what is missing at the end. */
  end(): AuditFinding[] {
    const last = this.#last;
    const { head } = this.#state;
    if (head === undefined) {
      if (last) this.#add(last, 'the signed head of the trail is missing');
    } else if (!this.#key.isHead(head))
      this.#add(head, 'the signed head of the trail is not what was written');
    else this.#expect(head.seq, head, 'the end of the trail is missing');
    const kept = this.#kept;
    if (kept) this.#endKept(kept);
    return this.#handOut();
  }

  #follow(
    link: AuditLink,
    text: string,
    add: (what: string, level?: AuditFinding['level']) => void,
  ): void {
    const before = this.#last;
    const expected = (before?.seq ?? 0) + 1;
    if (link.seq === 1 && before && this.#key.link(link.writer, undefined, text).mac === link.mac) {
      add('the chain begins anew: nothing vouches for the entries before');
    } else if (link.seq < expected) {
      add('the entry is not in its place: moved, repeated or inserted');
      return;
    } else if (link.seq > expected) this.#judgeGap(expected, link, text, add);
    else if (this.#key.link(link.writer, before, text).mac !== link.mac)
      add('the entry, or its link to the one before, is not what was written');
    this.#compare(link, add);
    this.#last = link;
    const { writer, seq: sequence, mac } = link;
    this.#summary.head = { writer, sequence, mac };
    this.#summary.first ??= this.#summary.head;
  }

  #judgeGap(
    from: number,
    link: AuditLink,
    text: string,
    add: (what: string, level?: AuditFinding['level']) => void,
  ): void {
    const to = link.seq - 1;
    const { sig } = this.#key.gap(from, link, text);
    if (this.#state.gaps?.some((gap) => gap.sig === sig))
      add(`before it, ${range(from, to)} lost, as a repair has noted`, 'note');
    else add(`before it, ${range(from, to)} missing`);
  }

  /** What is known of an entry beside the chain must be so. */
  #compare({ writer, seq, mac }: AuditLink, add: (what: string) => void): void {
    const { head } = this.#state;
    if (head?.seq === seq && head.mac !== mac && this.#key.isHead(head))
      add('the entry is not the one that the signed head names');
    const kept = this.#kept;
    if (kept?.sequence !== seq || kept.mac === mac) return;
    const why =
      kept.writer === writer
        ? ''
        : `: the trail was written anew by ${writer}, as after a backup was restored`;
    add(`the entry is not the one that the kept head names (writer ${kept.writer})${why}`);
  }

  #endKept(kept: KeptHead): void {
    const { start } = this.#state;
    const place = { writer: kept.writer, seq: kept.sequence };
    if (start && kept.sequence < start.seq)
      this.#add(
        place,
        'the kept head is older than all that retention has left: keep a newer one',
        'note',
      );
    else if (start?.seq === kept.sequence && start.mac !== kept.mac)
      this.#add(place, 'the trail does not go on from the kept head');
    else
      this.#expect(
        kept.sequence,
        place,
        'the trail ends before the kept head: its end was cut off, or an older backup was restored',
      );
  }

  #expect(seq: number, place: { writer: string; seq: number }, what: string): void {
    const last = this.#last?.seq ?? 0;
    if (last < seq) this.#add(place, `${what}: ${range(last + 1, seq)} missing`);
  }

  #add(
    { writer, seq, at, id }: { writer?: string; seq?: number; at?: number; id?: string },
    what: string,
    level: AuditFinding['level'] = 'damage',
  ): void {
    const isTime = typeof at === 'number' && Math.abs(at) <= latestMs;
    this.#found.push({
      level,
      writer: writer ?? null,
      sequence: seq ?? null,
      at: isTime ? iso(at) : null,
      id: id ?? null,
      what,
    });
  }

  #handOut(): AuditFinding[] {
    return this.#found.splice(0);
  }
}
