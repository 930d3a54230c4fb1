import { iso } from '../../domain/clock.ts';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { AuditLink, ChainKey, ChainStart, ChainState, SealedEntry } from './audit-chain.ts';

/** A finding about the trail: a problem (`damage`) or information (`note`), with its location. */
export interface AuditFinding {
  level: 'damage' | 'note';
  writer: string | null;
  sequence: number | null;
  at: string | null;
  id: string | null;
  what: string;
}

/** A head that the operator kept outside the store. */
export interface KeptHead {
  writer: string;
  sequence: number;
  mac: string;
}

export interface AuditSummary {
  entries: number;
  /** Link of the first entry. `null` if there is none. */
  first: KeptHead | null;
  head: KeptHead | null;
}

/** Latest time a `Date` can represent. */
const latestMs = 8.64e15;

const range = (from: number, to: number) =>
  from === to ? `entry ${from} is` : `entries ${from} to ${to} are`;

/**
 * Returns an entry as JSON text, or `undefined` if it cannot be converted, such as one nested too
 * deeply.
 */
function textOf(entry: unknown): string | undefined {
  try {
    return JSON.stringify(entry);
  } catch {
    return undefined;
  }
}

/** Verifies the chain over all entries of a trail, given in order. */
export class AuditVerifier {
  readonly #key: ChainKey;
  readonly #state: ChainState;
  readonly #kept: KeptHead | undefined;
  readonly #summary: AuditSummary = { entries: 0, first: null, head: null };
  #last: AuditLink | undefined;
  /** The latest first day that is kept, by the purges that the trail records. */
  #purgedBefore: string | undefined;
  #findings: AuditFinding[] = [];

  constructor(key: ChainKey, state: ChainState = {}, kept?: KeptHead) {
    this.#key = key;
    this.#state = state;
    this.#kept = kept;
    const { start } = state;
    if (start === undefined) return;
    if (key.isStart(start)) this.#last = start;
    else this.#add(start, 'the signed start of the trail was changed');
  }

  get summary(): AuditSummary {
    return this.#summary;
  }

  /**
   * Verifies the next entry and returns the findings. `undefined` stands for an unreadable entry.
   */
  take(sealed: Partial<SealedEntry> | undefined): AuditFinding[] {
    this.#summary.entries++;
    const { entry, link } = sealed ?? {};
    const location = { ...link, ...(entry && { id: entry.id, at: entry.at }) };
    const text = textOf(entry);
    if (text === undefined) this.#add(location, 'this is not an entry');
    else if (link === undefined)
      this.#add(location, 'the entry carries no MAC: inserted, or its MAC was removed');
    else {
      this.#notePurge(entry);
      this.#follow(link, text, (what, level) => this.#add(location, what, level));
    }
    return this.#takeFindings();
  }

  /** Call after the last entry. Returns the findings about the end of the trail. */
  end(): AuditFinding[] {
    const last = this.#last;
    const { head } = this.#state;
    if (head === undefined) {
      if (last) this.#add(last, 'the signed head of the trail is missing');
    } else if (!this.#key.isHead(head)) this.#add(head, 'the signed head of the trail was changed');
    else this.#expect(head.seq, head, 'the end of the trail is missing');
    this.#checkPurge();
    const kept = this.#kept;
    if (kept) this.#checkKeptHead(kept);
    return this.#takeFindings();
  }

  #follow(
    link: AuditLink,
    text: string,
    add: (what: string, level?: AuditFinding['level']) => void,
  ): void {
    const previous = this.#last;
    const expected = (previous?.seq ?? 0) + 1;
    if (
      link.seq === 1 &&
      previous &&
      this.#key.link(link.writer, undefined, text).mac === link.mac
    ) {
      add('a new chain begins here: the entries before it are not protected');
    } else if (link.seq < expected) {
      add('the entry is out of order: moved, repeated or inserted');
      return;
    } else if (link.seq > expected) this.#checkGap(expected, link, text, add);
    else if (this.#key.link(link.writer, previous, text).mac !== link.mac)
      add('the entry, or its link to the previous one, was changed');
    this.#compare(link, add);
    this.#last = link;
    const { writer, seq: sequence, mac } = link;
    this.#summary.head = { writer, sequence, mac };
    this.#summary.first ??= this.#summary.head;
  }

  #checkGap(
    from: number,
    link: AuditLink,
    text: string,
    add: (what: string, level?: AuditFinding['level']) => void,
  ): void {
    const to = link.seq - 1;
    const { sig } = this.#key.gap(from, link, text);
    if (this.#state.gaps?.some((gap) => gap.sig === sig))
      add(`before it, ${range(from, to)} lost, as a repair has recorded`, 'note');
    else add(`before it, ${range(from, to)} missing`);
  }

  /** Compares the entry with the signed head and the kept head. */
  #compare({ writer, seq, mac }: AuditLink, add: (what: string) => void): void {
    const { head } = this.#state;
    if (head?.seq === seq && head.mac !== mac && this.#key.isHead(head))
      add('the entry is not the one that the signed head names');
    const kept = this.#kept;
    if (kept?.sequence !== seq || kept.mac === mac) return;
    const why =
      kept.writer === writer
        ? ''
        : `: ${writer} has rewritten the trail, for example after a backup was restored`;
    add(`the entry is not the one that the kept head names (writer ${kept.writer})${why}`);
  }

  #notePurge(entry: AuditEntry | undefined): void {
    const { before } = (entry?.action === 'retention.purge' && entry.details) || {};
    if (typeof before === 'string' && before > (this.#purgedBefore ?? ''))
      this.#purgedBefore = before;
  }

  /**
   * Compares the start of the trail with the purges that it records. Without a record, version
   * 0.1.0 has purged, and nothing can be said.
   */
  #checkPurge(): void {
    const { start } = this.#state;
    const recorded = this.#purgedBefore;
    if (!start || recorded === undefined || !this.#key.isStart(start)) return;
    if (start.day > recorded)
      this.#add(
        start,
        `the entries before ${start.day} are missing, and the trail records only a purge of those before ${recorded}`,
      );
    else
      this.#add(
        start,
        `the entries up to this one, of days before ${start.day}, were purged, as the trail records (retention.purge)`,
        'note',
      );
  }

  #checkKeptHead(kept: KeptHead): void {
    const { start } = this.#state;
    const location = { writer: kept.writer, seq: kept.sequence };
    if (start && kept.sequence < start.seq)
      this.#add(
        location,
        'the kept head is older than the entries that retention has kept: keep a newer head',
        'note',
      );
    else if (start?.seq === kept.sequence && start.mac !== kept.mac)
      this.#add(location, 'the trail does not continue from the kept head');
    else
      this.#expect(
        kept.sequence,
        location,
        'the trail ends before the kept head: its end was cut off, or an older backup was restored',
      );
  }

  #expect(seq: number, location: { writer: string; seq: number }, what: string): void {
    const last = this.#last?.seq ?? 0;
    if (last < seq) this.#add(location, `${what}: ${range(last + 1, seq)} missing`);
  }

  #add(
    { writer, seq, at, id }: { writer?: string; seq?: number; at?: number; id?: string },
    what: string,
    level: AuditFinding['level'] = 'damage',
  ): void {
    const isTime = typeof at === 'number' && Math.abs(at) <= latestMs;
    this.#findings.push({
      level,
      writer: writer ?? null,
      sequence: seq ?? null,
      at: isTime ? iso(at) : null,
      id: id ?? null,
      what,
    });
  }

  #takeFindings(): AuditFinding[] {
    return this.#findings.splice(0);
  }
}

/**
 * Verifies the first entries of the trail, before retention deletes them. `undefined` stands for an
 * unreadable entry. `isValid` tells whether all of these entries verify. `start` is the signed
 * start of the chain without these entries. It is absent if no entry so far was readable.
 */
export async function startAfter(
  key: ChainKey,
  { head: _head, ...state }: ChainState,
  entries:
    | Iterable<Partial<SealedEntry> | undefined>
    | AsyncIterable<Partial<SealedEntry> | undefined>,
  day: string,
): Promise<{ isValid: boolean; start?: ChainStart }> {
  const verifier = new AuditVerifier(key, state);
  let last: AuditLink | undefined = state.start;
  let isValid = true;
  for await (const one of entries) {
    if (verifier.take(one).some(({ level }) => level === 'damage')) isValid = false;
    last = one?.link ?? last;
  }
  return { isValid, ...(last && { start: key.start(last, day) }) };
}
