import type { MediaType } from '../../domain/media/media-types.ts';
import type { FileFinding } from './file-finding.ts';
import type { FileFormat } from './format.ts';
import type { ByteSource } from './formats/byte-source.ts';

/** Number of first bytes of a file that are examined. */
export const headBytes = 64 * 1024;

/** A file to examine, made by nobody we know. */
export interface ForeignFile {
  /** The first `headBytes` of the file, or all of it if it is shorter. */
  head: Uint8Array;
  /** Whether `head` is the whole file. Only then the end of an SVG is checked. */
  isWhole: boolean;
  /** For all but the type. `undefined`: only the head is examined. */
  source?: ByteSource | undefined;
}

/** The result of an examination. */
export interface Verdict {
  /** The type with which the service sends the file. `undefined`: it refuses the file. */
  type: MediaType | undefined;
  /** Why the service refuses the file, and the remedy. */
  refusal: string | undefined;
  /** How browsers take the file, by its first bytes. `undefined`: the format is unknown. */
  format: FileFormat | undefined;
  /**
   * The length of a video with a `source`, in seconds. `undefined`: the file does not say, such as
   * a fragmented MP4 or a live recording.
   */
  duration: number | undefined;
  /** What is wrong with a file of a `type`. Empty without a `source`. */
  findings: readonly FileFinding[];
}

/** The verdict on a file that could not be examined. */
export const refusedFile = (name: string, refusal: string): Verdict => ({
  type: undefined,
  refusal,
  format: { name, kind: 'other' },
  duration: undefined,
  findings: [],
});

/** What the examiner sends to its worker. */
export type ToWorker =
  | { kind: 'examine'; head: Uint8Array; isWhole: boolean; size: number | undefined }
  /** The answer to a `read`. Without `bytes`, reading has failed. */
  | { kind: 'bytes'; id: number; bytes: Uint8Array | undefined };

/** What the worker sends. */
export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'read'; id: number; start: number; end: number }
  | { kind: 'verdict'; verdict: Verdict };
