import { boxHeaderBytes, parseBox } from '../../media/examination/iso-box.ts';
import { error, type MediaProblem, warning } from './finding.ts';
import type { Hop } from './follow-redirects.ts';
import type { Send } from './send.ts';

/** Reads bytes of a file. Returns `undefined` if they cannot be read. */
type ReadBytes = (offset: number, length: number) => Promise<Buffer | undefined>;

/** The order of the boxes of an MP4 file (ISO/IEC 14496-12). */
export interface Mp4Layout {
  /**
   * Place of the index, the box `moov`: before the media data, after it, or absent. `unknown`: the
   * boxes are damaged, or too many come first.
   */
  moov: 'before' | 'after' | 'absent' | 'unknown';
  /** Whether a box extends beyond the end of the file. */
  isTruncated: boolean;
}

/** Real files have few boxes before the media data. More may be an attack. */
const maxBoxes = 16;

/**
 * Reads the headers of the boxes of an MP4 file from its beginning. Stops when the order of index
 * and media data is known, at the end of the file, or after `maxBoxes`.
 *
 * @param total size of the file in bytes, if known
 */
export async function readMp4Layout(
  read: ReadBytes,
  total = Number.POSITIVE_INFINITY,
): Promise<Mp4Layout> {
  let hasIndex = false;
  let hasData = false;
  let offset = 0;
  for (let count = 0; count < maxBoxes && offset < total; count++) {
    const header = await read(offset, boxHeaderBytes);
    const box = header && parseBox(header);
    if (!box) {
      // The bytes after the media data cannot be read, so the index can only be there.
      if (!header && hasData) return { moov: 'after', isTruncated: false };
      break;
    }
    const end = box.size === undefined ? total : offset + box.size;
    if (box.type === 'moov') hasIndex = true;
    if (box.type === 'moov' && hasData) return { moov: 'after', isTruncated: end > total };
    if (box.type === 'mdat') hasData = true;
    if (end > total) return { moov: hasIndex ? 'before' : 'absent', isTruncated: true };
    if (hasIndex && /^(?:mdat|moof)$/.test(box.type)) return { moov: 'before', isTruncated: false };
    offset = end;
  }
  if (hasIndex) return { moov: 'before', isTruncated: false };
  return { moov: offset === total ? 'absent' : 'unknown', isTruncated: false };
}

/**
 * Checks whether an MP4 file is complete, and whether its index comes before its media data. Reads
 * a few small ranges beyond the first response.
 *
 * @param size of the file in bytes, if known
 */
export async function mp4Problem(
  { url, origin, reply }: Hop,
  size: number | undefined,
  send: Send,
): Promise<MediaProblem | undefined> {
  const hasRanges = reply.status === 206;
  const read = async (offset: number, length: number) => {
    const wanted = Math.min(length, (size ?? Number.POSITIVE_INFINITY) - offset);
    if (offset + wanted <= reply.body.length) return reply.body.subarray(offset, offset + wanted);
    if (!hasRanges) return undefined;
    const range = `bytes=${offset}-${offset + length - 1}`;
    const part = await send(url, { origin, range });
    return part?.status === 206 ? part.body : undefined;
  };
  const { moov, isTruncated } = await readMp4Layout(read, size);
  if (isTruncated) {
    return error('truncated', {
      detail: `The video is incomplete: its structure extends beyond its ${size} bytes.`,
      effect: 'A TV stops in the middle, or shows nothing.',
      advice: 'Upload the file again.',
    });
  }
  if (moov === 'absent') {
    return error('moov', {
      detail: 'The video has no index (the box moov).',
      effect: 'A TV cannot play it.',
      advice: 'Export the video again.',
    });
  }
  if (moov !== 'after') return undefined;
  const level = hasRanges ? warning : error;
  return level('moov', {
    detail: 'The index of the video (the box moov) comes after its media data.',
    effect: hasRanges
      ? 'A TV that streams starts late, because it must load the end first.'
      : 'Without ranges, a TV that streams must load the whole file first. Some give up.',
    advice: 'Move it to the front: ffmpeg -i in.mp4 -c copy -movflags +faststart out.mp4.',
  });
}
