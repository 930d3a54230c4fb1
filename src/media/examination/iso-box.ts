/** A box of an ISO media file, such as MP4 or AVIF (ISO/IEC 14496-12). */
interface Box {
  type: string;
  /** In bytes. `undefined`: the box extends to the end of the file. */
  size: number | undefined;
}

/** Maximum length of the header of a box. */
export const boxHeaderBytes = 16;

/** Parses the header of a box. Returns `undefined` for other bytes. */
export function parseBox(header: Buffer): Box | undefined {
  if (header.length < 8) return undefined;
  const type = header.toString('latin1', 4, 8);
  if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return undefined;
  const size = header.readUInt32BE(0);
  if (size === 0) return { type, size: undefined };
  if (size !== 1) return size < 8 ? undefined : { type, size };
  if (header.length < boxHeaderBytes) return undefined;
  const large = Number(header.readBigUInt64BE(8));
  return large < boxHeaderBytes ? undefined : { type, size: large };
}
