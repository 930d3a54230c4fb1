import type { MediaType } from '../../domain/media/media-types.ts';
import type { FileFormat } from './format.ts';
import type { ByteSource, Video } from './video.ts';

/** Number of first bytes of a file that are examined. */
export const headBytes = 64 * 1024;

/** A file to examine, made by nobody we know. */
export interface ForeignFile {
  /** The first `headBytes` of the file, or all of it if it is shorter. */
  head: Uint8Array;
  /** Whether `head` is the whole file. Only then the end of an SVG is checked. */
  isWhole: boolean;
  /** For the end of a file and the length of a video. `undefined`: only the head is examined. */
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
  /** Set for a video with a `source`. */
  video: Video | undefined;
}

/** The verdict on a file that could not be examined. */
export const refusedFile = (name: string, refusal: string): Verdict => ({
  type: undefined,
  refusal,
  format: { name, kind: 'other' },
  video: undefined,
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
