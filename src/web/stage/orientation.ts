const jpegStart = 0xffd8;
const exifMarker = 0xffe1;
const exifName = 0x45786966;
const littleEndian = 0x4949;
const orientationTag = 0x112;

/**
 * Returns the orientation of a JPEG, 1 to 8 as in its EXIF metadata. 1 (upright) without metadata,
 * and for other files.
 */
export function orientationIn(view: DataView): number {
  try {
    if (view.getUint16(0) !== jpegStart) return 1;
    // Each segment has a marker and its length.
    for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
      if (view.getUint16(at) !== exifMarker || view.getUint32(at + 4) !== exifName) continue;
      const tiff = at + 10;
      const isLittle = view.getUint16(tiff) === littleEndian;
      const entries = tiff + view.getUint32(tiff + 4, isLittle);
      for (let left = view.getUint16(entries, isLittle), entry = entries + 2; left--; entry += 12)
        if (view.getUint16(entry, isLittle) === orientationTag)
          return view.getUint16(entry + 8, isLittle);
      return 1;
    }
  } catch {
    return 1;
  }
}
