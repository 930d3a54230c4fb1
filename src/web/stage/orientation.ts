/** The orientation of an image stands before its pixels. */
const headBytes = 2 ** 18;
const orientationTag = 0x0112;
const startOfScan = 0xda;
const app1 = 0xe1;
const exif = 0x45786966;

/**
 * Returns the EXIF orientation of a JPEG (JEITA CP-3451, tag 274), from 1 to 8. Returns 1 for a
 * file without one, and for other files.
 */
function readOrientation(view: DataView): number {
  try {
    if (view.getUint16(0) !== 0xffd8) return 1;
    let at = 2;
    while (view.getUint8(at) === 0xff && view.getUint8(at + 1) !== startOfScan) {
      if (view.getUint8(at + 1) === app1 && view.getUint32(at + 4) === exif)
        return orientationIn(view, at + 10);
      at += 2 + view.getUint16(at + 2);
    }
  } catch {
    // The file ends early: it has no orientation.
  }
  return 1;
}

/** Reads the first directory of a TIFF header. */
function orientationIn(view: DataView, start: number): number {
  const isLittle = view.getUint16(start) === 0x4949;
  const directory = start + view.getUint32(start + 4, isLittle);
  const count = view.getUint16(directory, isLittle);
  for (let entry = directory + 2; entry < directory + 2 + 12 * count; entry += 12) {
    if (view.getUint16(entry, isLittle) !== orientationTag) continue;
    const value = view.getUint16(entry + 8, isLittle);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

const turns = [
  '',
  'scaleX(-1)',
  'rotate(180deg)',
  'scaleY(-1)',
  'rotate(90deg) scaleY(-1)',
  'rotate(90deg)',
  'rotate(-90deg) scaleY(-1)',
  'rotate(-90deg)',
];

/**
 * Turns the picture of a camera upright in browsers before Chromium 81, which ignore its EXIF
 * orientation.
 */
export async function turnUpright(image: HTMLImageElement, file: Blob): Promise<void> {
  if (CSS.supports('image-orientation', 'from-image')) return;
  // Chromium 63 has no `Blob.arrayBuffer`.
  const head = await new Response(file.slice(0, headBytes)).arrayBuffer();
  const orientation = readOrientation(new DataView(head));
  if (orientation === 1) return;
  const { style } = image;
  style.transform = turns[orientation - 1] as string;
  const { clientWidth: width, clientHeight: height } = image;
  if (orientation < 5) return;
  // The sides are exchanged, around the same centre.
  style.width = `${height}px`;
  style.height = `${width}px`;
  style.left = `${(width - height) / 2}px`;
  style.top = `${(height - width) / 2}px`;
}
