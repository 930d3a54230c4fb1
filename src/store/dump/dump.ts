import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DumpRecords, DumpSection, Records, SectionName } from './records.ts';

/**
 * A dump is a text stream of one state of a store, in UTF-8. Each line is the CRC-32 of its JSON in
 * hex, a space, and the JSON:
 *
 *     1c291ca3 {"dump":{"format":2,"store":"…","at":"2026-11-20T08:00:00.000Z"}}
 *     8d777f38 {"section":"screens","row":{"id":"…",…}}
 *     5f0d1e22 {"end":{"counts":{"screens":1,…},"sha256":"…"}}
 *
 * The order of sections, rows and members is fixed, so the same state has the same bytes in every
 * store. The last line has the SHA-256 of all bytes before it.
 */
export const dumpFormat = 2;
/** 1: of 0.1.0. Its rows are rows of this format without newer members. */
export const readableDumpFormats = [1, dumpFormat] as const;

/** The first line of a dump. */
export interface DumpHead {
  format: number;
  /** Identifies the store: the same for all dumps of one store. */
  store: string;
  /** Time of the state, as ISO 8601. */
  at: string;
}

export type SectionCounts = Partial<Record<DumpSection, number>>;

export interface DumpEnd {
  /** Records of each section that has any. */
  counts: SectionCounts;
  sha256: string;
}

/** One state of a store, to be read once. */
export interface DumpSource {
  /** Reads a section, in the order of `sections`. */
  read<S extends SectionName>(section: S): Iterable<Records[S]> | AsyncIterable<Records[S]>;
}

export function storeId(secret: string): string {
  return hash('sha256', `signage store ${secret}`).slice(0, 16);
}

/** Returns the JSON text of a record. A batch has the bytes that were sent. */
export function recordJson<S extends DumpSection>(section: S, record: DumpRecords[S]): string {
  if (section !== 'batches') return JSON.stringify({ section, row: record });
  const { body, ...head } = record as Records['batches'];
  return `${JSON.stringify({ section, row: head }).slice(0, -2)},"events":${body}}}`;
}

export function lineOf(json: string): string {
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}
