/** Returns a JPEG with an orientation in EXIF metadata, 1 to 8, right after its start. */
export function withOrientation(jpeg: Uint8Array, orientation: number, isLittle = false): Buffer {
  const tiff = Buffer.alloc(26);
  const write16 = (value: number, at: number) =>
    isLittle ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
  const write32 = (value: number, at: number) =>
    isLittle ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at);
  tiff.write(isLittle ? 'II' : 'MM', 0, 'latin1');
  write16(42, 2);
  write32(8, 4);
  // One entry: the tag, a 16-bit number, once.
  write16(1, 8);
  write16(0x112, 10);
  write16(3, 12);
  write32(1, 14);
  write16(orientation, 18);
  const head = Buffer.from([0xff, 0xe1, 0, tiff.length + 8, ...Buffer.from('Exif\0\0', 'latin1')]);
  return Buffer.concat([jpeg.subarray(0, 2), head, tiff, jpeg.subarray(2)]);
}
