import { createHmac, hkdfSync } from 'node:crypto';
import type { AuditEntry } from '../../domain/records/rows.ts';

/**
 * The hash chain over the audit trail.
 *
 * - Every entry gets a link: the writer, the entry's sequence number, and an HMAC-SHA-256 over both,
 *   over the MAC of the entry before and over the entry's JSON text. So a changed, dropped, swapped
 *   or inserted entry breaks the chain at its place.
 * - The key is derived from the server's secret with HKDF. Whoever lacks the secret cannot make a
 *   MAC. Whoever has it can make a new chain, but not one that ends in a head kept elsewhere.
 * - A store has one chain, in the order in which its entries become durable. The embedded store
 *   links an entry when its change goes to the journal. PostgreSQL links it inside
 *   `signage.make_changes`, which makes the changes of all instances one after another: a change
 *   that fails, clashes or rolls back takes no number, and the end of an instance that crashed is
 *   protected by the entries of the others.
 * - A writer is one life of a store. A store that is new, restored from a backup, copied or repaired
 *   gives itself a new writer id and goes on with the sequence. So two stores that come from one
 *   never pass for each other.
 * - The store keeps a signed head, the last link. Entries that are cut off at the end are missed.
 *   It is as new as the last checkpoint of an embedded store that crashed, else exact.
 * - Retention keeps a signed start: the link of the last entry that it dropped, and its day.
 * - A repair keeps a signed gap for entries that are lost.
 * - Entries of earlier versions have no link. They come before the first linked entry, whose
 *   sequence number is 1 unless a signed start says otherwise. An entry without a link after that
 *   is reported.
 * - A store that was put back to an earlier state as a whole is a valid, shorter chain. Only a head
 *   kept elsewhere tells.
 */
export interface AuditLink {
  writer: string;
  /** Counts up from 1 without a gap, over all writers. */
  seq: number;
  /** In hex. */
  mac: string;
}

/** An entry as stores keep it. Entries of earlier versions have no link. */
export interface SealedEntry {
  entry: AuditEntry;
  link?: AuditLink;
}

/** Strict, so that no part of a MAC's message can pass for two. */
const writerForm = /^[0-9a-f]{16}$/;
const macForm = /^[0-9a-f]{64}$/;

/** Whether a value that was read is an entry with a valid link, or none. Somebody may have put anything there. */
export function isSealed(value: unknown): value is SealedEntry {
  const { entry, link } = (value ?? {}) as Partial<SealedEntry>;
  if (typeof entry !== 'object' || entry === null) return false;
  if (link === undefined) return true;
  const { writer, seq, mac } = link ?? {};
  return writerForm.test(String(writer)) && Number.isSafeInteger(seq) && macForm.test(String(mac));
}

export interface ChainHead extends AuditLink {
  sig: string;
}

export interface ChainStart extends ChainHead {
  /** First day that is kept, `YYYY-MM-DD`. What is left of earlier days waits to be deleted. */
  day: string;
}

export interface ChainGap {
  /** The first and the last lost entry. */
  from: number;
  to: number;
  /** Covers the entry after the gap, too. */
  sig: string;
}

/** What a store keeps of its chain beside the entries. */
export interface ChainState {
  /** Who links the next entry; absent in a copy that no service has started on. */
  writer?: string;
  head?: ChainHead;
  start?: ChainStart;
  gaps?: readonly ChainGap[];
}

/** Bytes of SHA-256's block, to which HMAC pads its key. */
const blockBytes = 64;

/** Makes and checks the MACs of one store's trail. */
export class ChainKey {
  readonly #key: Buffer;

  constructor(serverSecret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', serverSecret, '', 'signage audit chain', 32));
  }

  /** Links an entry, given as its JSON text, to the one before. */
  link(writer: string, before: AuditLink | undefined, text: string): AuditLink {
    const seq = (before?.seq ?? 0) + 1;
    return { writer, seq, mac: this.#mac('entry', writer, seq, before?.mac ?? '', text) };
  }

  head({ writer, seq, mac }: AuditLink): ChainHead {
    return { writer, seq, mac, sig: this.#mac('head', writer, seq, mac) };
  }

  /**
   * Where the next entry goes on from a kept head. A head whose signature is wrong gets a successor
   * that no entry has: the gap stays in the chain.
   */
  goOn(head: ChainHead): AuditLink {
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

  /** The gap between an entry and the next one that is left, given as its link and its JSON text. */
  gap(from: number, { writer, seq, mac }: AuditLink, text: string): ChainGap {
    return { from, to: seq - 1, sig: this.#mac('gap', from, seq - 1, writer, mac, text) };
  }

  /** The key in the two forms that HMAC makes of it: a database without HMAC needs no other. */
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
