import { type MediaType, type MediaTypeRow, mediaTypes } from '../../domain/media/media-types.ts';
import { boxHeaderBytes, parseBox } from './iso-box.ts';
import type { ByteSource } from './video.ts';

/** The end of an image is searched in pieces, from the end of the file. */
const pieceBytes = 64 * 1024;
/** Phones append a video of a few MiB to a photo. Further back, a missing end is no proof. */
const maxSearchBytes = 4 * 1024 * 1024;
/** Within so few bytes, the picture of a GIF that is cut off hardly ever looks like its end. */
const gifTailBytes = 256;
/** A whole video has a few boxes; a fragmented one, two for each fragment. */
const maxBoxes = 1000;

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/** Whether a mark is missing that whole files have near their end. */
async function lacks({ size, read }: ByteSource, mark: string): Promise<boolean> {
  let after = '';
  for (let end = size; end > 0; end -= pieceBytes) {
    if (size - end >= maxSearchBytes) return false;
    const piece = latin1(await read(Math.max(0, end - pieceBytes), end));
    if ((piece + after).includes(mark)) return false;
    after = piece.slice(0, mark.length - 1);
  }
  return true;
}

/** Whether a GIF does not end with the end of a block and its trailer. Some programs add bytes. */
async function lacksTrailer({ size, read }: ByteSource): Promise<boolean> {
  return !latin1(await read(Math.max(0, size - gifTailBytes), size)).includes('\0;');
}

/** Whether a RIFF file is shorter than it says. */
async function isShortRiff({ size, read }: ByteSource): Promise<boolean> {
  const head = Buffer.from(await read(0, Math.min(size, 8)));
  return head.length < 8 || head.readUInt32LE(4) + 8 > size;
}

/** Whether the last box of an ISO media file ends after the file. */
async function isShortIso({ size, read }: ByteSource): Promise<boolean> {
  let at = 0;
  for (let count = 0; count < maxBoxes && at < size; count++) {
    const header = Buffer.from(await read(at, Math.min(size, at + boxHeaderBytes)));
    const box = parseBox(header);
    // Other bytes behind the boxes, such as zeros, are not of the file.
    if (!box)
      return (
        header.length < (header.length >= 4 && header.readUInt32BE(0) === 1 ? boxHeaderBytes : 8)
      );
    if (box.size === undefined) return false;
    at += box.size;
  }
  return at > size;
}

/** Reads a length of EBML. `undefined`: it says that the length is unknown, as live videos do. */
function ebmlLength(head: Buffer, at: number): { bytes: number | undefined; width: number } {
  const first = head[at] ?? 0;
  const width = Math.clz32(first) - 23;
  if (width > 8 || at + width > head.length) return { bytes: undefined, width };
  let bytes = first & (0xff >> width);
  let isUnknown = bytes === 0xff >> width;
  for (const byte of head.subarray(at + 1, at + width)) {
    bytes = bytes * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { bytes: isUnknown ? undefined : bytes, width };
}

/** Whether the segment of a WebM video ends after the file. */
async function isShortEbml({ size, read }: ByteSource): Promise<boolean> {
  const head = Buffer.from(await read(0, Math.min(size, 4096)));
  const header = ebmlLength(head, 4);
  const segment = 4 + header.width + (header.bytes ?? 0);
  if (head.length < segment + 4 || head.readUInt32BE(segment) !== 0x18538067) return false;
  const { bytes, width } = ebmlLength(head, segment + 4);
  return bytes !== undefined && segment + 4 + width + bytes > size;
}

const tests: Readonly<Record<string, (source: ByteSource) => Promise<boolean>>> = {
  gif: lacksTrailer,
  riff: isShortRiff,
  iso: isShortIso,
  ebml: isShortEbml,
};

/**
 * Whether the end of a file is missing, such as after a broken download. Browsers show the rest of
 * such a picture without an error. `false` for a file that cannot be judged.
 *
 * @param type the type of the file by its first bytes
 */
export async function isCutOff(type: MediaType, source: ByteSource): Promise<boolean> {
  const { end }: MediaTypeRow = mediaTypes[type];
  if (end === undefined) return false;
  const result = tests[end]?.(source) ?? lacks(source, end);
  return result.catch(() => false);
}
