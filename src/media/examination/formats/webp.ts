import type { Picture } from './picture.ts';

/** Returns width and height of a WebP file by its first chunk (RFC 9649). */
function sizeOf(head: Buffer): Pick<Picture, 'width' | 'height'> {
  const type = head.toString('latin1', 12, 16);
  if (type === 'VP8X')
    return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (type === 'VP8L') {
    const bits = head.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (type !== 'VP8 ') return {};
  return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
}

/** Reads the first chunks of a WebP file. Browsers draw nothing of one that is cut. */
export function readWebp(head: Buffer, size: number): Picture {
  if (head.length < 30) return { cut: 'picture' };
  const expectedBytes = head.readUInt32LE(4) + 8;
  return {
    ...sizeOf(head),
    isAnimated: head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0,
    cut: expectedBytes > size ? 'picture' : undefined,
    expectedBytes,
  };
}
