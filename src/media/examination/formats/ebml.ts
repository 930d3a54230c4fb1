import type { ByteSource } from './byte-source.ts';

const segmentId = 0x18538067;
const clusterId = 0x1f43b675;
/** Clusters take 5 seconds and more. Of a longer video, only the first are read. */
const maxElements = 500;

/** An element of EBML (RFC 8794). */
interface Element {
  id: number;
  /** Place of its content in the file. */
  from: number;
  /** Place of its end. `undefined`: unknown, as in live recordings. */
  to: number | undefined;
}

/** Reads an integer of variable length. `undefined`: all bits are set, or bytes are missing. */
function integer(head: Buffer, at: number): { value: number | undefined; width: number } {
  const first = head[at] ?? 0;
  const width = Math.clz32(first) - 23;
  if (width > 8 || at + width > head.length) return { value: undefined, width };
  let value = first & (0xff >> width);
  let isUnknown = value === 0xff >> width;
  for (const byte of head.subarray(at + 1, at + width)) {
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value: isUnknown ? undefined : value, width };
}

async function elementAt({ size, read }: ByteSource, at: number): Promise<Element | undefined> {
  const head = Buffer.from(await read(at, Math.min(size, at + 12)));
  const idWidth = Math.clz32(head[0] ?? 0) - 23;
  if (idWidth > 4 || head.length <= idWidth) return undefined;
  const { value, width } = integer(head, idWidth);
  const from = at + idWidth + width;
  const to = value === undefined ? undefined : from + value;
  return { id: head.readUIntBE(0, idWidth), from, to };
}

/**
 * Returns whether a WebM file ends within its clusters, or behind them (`end`), and the size that
 * it should have.
 */
export async function readEbmlEnd(
  source: ByteSource,
): Promise<{ cut?: 'picture' | 'end' | undefined; expectedBytes?: number | undefined }> {
  const header = await elementAt(source, 0);
  const segment = header?.to === undefined ? undefined : await elementAt(source, header.to);
  if (segment?.id !== segmentId) return { cut: 'picture' };
  const isShort = segment.to !== undefined && segment.to > source.size;
  let hasCluster = false;
  let at = segment.from;
  for (let count = 0; count < maxElements && at < source.size; count++) {
    const element = await elementAt(source, at);
    // An unknown length says nothing, and so do other bytes behind the last cluster.
    if (!element || element.to === undefined)
      return { cut: isShort && !hasCluster ? 'picture' : undefined };
    const isCluster = element.id === clusterId;
    if (element.to > source.size)
      return {
        cut: isCluster || !hasCluster ? 'picture' : 'end',
        expectedBytes: segment.to ?? element.to,
      };
    hasCluster ||= isCluster;
    at = element.to;
  }
  if (!hasCluster) return { cut: 'picture', expectedBytes: segment.to };
  return isShort ? { cut: at < source.size ? 'picture' : 'end', expectedBytes: segment.to } : {};
}
