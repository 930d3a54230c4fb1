import { createHmac, hkdfSync } from 'node:crypto';
import type { AuditEntry } from '../../domain/records/audit.ts';

/**
 * Hash chain over the audit trail.
 *
 * - Every entry gets a link: the writer, a sequence number, and a MAC. The MAC is an HMAC-SHA-256
 *   over the writer, the number, the previous entry's MAC and the entry's JSON text. The chain
 *   breaks where an entry was changed, dropped, reordered or inserted.
 * - The key is derived from the server's secret with HKDF. Without the secret nobody can create a
 *   MAC. An attacker with the secret can create a new chain, but none that matches a head kept
 *   outside the store.
 * - A store has one chain, in the order in which its entries become durable. The embedded store
 *   links an entry when its change goes to the journal. PostgreSQL links it in
 *   `signage.make_changes`, which runs the changes of all instances one after another. A change
 *   that fails, conflicts or rolls back uses up no sequence number. If an instance crashes, the
 *   links of later entries, from other instances, protect its last entries.
 * - A new writer id is assigned when a store is created, restored from a backup, copied or
 *   repaired. The sequence continues. So a store and its copy have different writer ids.
 * - The store keeps a signed head, the last link. The head reveals that entries at the end were
 *   removed. After a crash of an embedded store, the head dates from the last checkpoint.
 * - Retention stores a signed start: the link of the last deleted entry, and the first day that is
 *   kept.
 * - A repair stores a signed gap for lost entries. If the secret is lost, it links all entries
 *   again, with the key of the new secret.
 * - A store rolled back as a whole to an earlier state has a valid, shorter chain. Only a head kept
 *   outside the store reveals this.
 */
export interface AuditLink {
  writer: string;
  /** Counts up from 1, across all writers. A gap means lost entries, or a head that was changed. */
  seq: number;
  /** In hex. */
  mac: string;
}

/** An entry as stored. */
export interface SealedEntry {
  entry: AuditEntry;
  link: AuditLink;
}

/** Strict patterns, so that the parts of a MAC's message have unambiguous boundaries. */
const writerPattern = /^[0-9a-f]{16}$/;
const macPattern = /^[0-9a-f]{64}$/;

/** Whether an untrusted value is an entry with a valid link. */
export function isSealed(value: unknown): value is SealedEntry {
  const { entry, link } = (value ?? {}) as Partial<SealedEntry>;
  if (typeof entry !== 'object' || entry === null) return false;
  const { writer, seq, mac } = link ?? {};
  return (
    writerPattern.test(String(writer)) && Number.isSafeInteger(seq) && macPattern.test(String(mac))
  );
}

export interface ChainHead extends AuditLink {
  sig: string;
}

export interface ChainStart extends ChainHead {
  /** First day that is kept, `YYYY-MM-DD`. After a crash, files of earlier days may still exist. */
  day: string;
}

export interface ChainGap {
  /** Sequence numbers of the first and the last lost entry. */
  from: number;
  to: number;
  /** The signature also covers the entry after the gap. */
  sig: string;
}

/** Chain data that a store keeps beside the entries. */
export interface ChainState {
  /** Writer of the next entry. Absent in a copy on which no service has started yet. */
  writer?: string;
  head?: ChainHead;
  start?: ChainStart;
  gaps?: readonly ChainGap[];
}

/** Block size of SHA-256, to which HMAC pads its key. */
const blockBytes = 64;

/** Creates and checks the MACs of one store's trail. */
export class ChainKey {
  readonly #key: Buffer;

  constructor(serverSecret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'signage audit chain', 32));
  }

  /** Links an entry, given as its JSON text, to the previous one. */
  link(writer: string, previous: AuditLink | undefined, text: string): AuditLink {
    const seq = (previous?.seq ?? 0) + 1;
    return { writer, seq, mac: this.#mac('entry', writer, seq, previous?.mac ?? '', text) };
  }

  head({ writer, seq, mac }: AuditLink): ChainHead {
    return { writer, seq, mac, sig: this.#mac('head', writer, seq, mac) };
  }

  /**
   * Returns the link that the next entry follows, given the stored head. If the head's signature is
   * wrong, one sequence number is skipped, so that the chain shows a gap.
   */
  resumeFrom(head: ChainHead): AuditLink {
    return this.isHead(head) ? head : { writer: head.writer, seq: head.seq + 1, mac: '' };
  }

  isHead(head: ChainHead): boolean {
    return this.head(head).sig === head.sig;
  }

  start({ writer, seq, mac }: AuditLink, day: string): ChainStart {
    return { writer, seq, mac, day, sig: this.#mac('start', writer, seq, mac, day) };
  }

  isStart(start: ChainStart): boolean {
    return this.start(start, start.day).sig === start.sig;
  }

  /**
   * Signs the gap before the next remaining entry. Takes the link and the JSON text of that entry.
   */
  gap(from: number, { writer, seq, mac }: AuditLink, text: string): ChainGap {
    return { from, to: seq - 1, sig: this.#mac('gap', from, seq - 1, writer, mac, text) };
  }

  /** Returns the inner and outer padded keys of HMAC, for a database without an HMAC function. */
  pads(): { inner: Buffer; outer: Buffer } {
    const padded = Buffer.concat([this.#key], blockBytes);
    return {
      inner: padded.map((byte) => byte ^ 0x36) as Buffer,
      outer: padded.map((byte) => byte ^ 0x5c) as Buffer,
    };
  }

  #mac(kind: string, ...parts: (string | number)[]): string {
    return createHmac('sha256', this.#key)
      .update(`${kind}\n${parts.join('\n')}`)
      .digest('hex');
  }
}
