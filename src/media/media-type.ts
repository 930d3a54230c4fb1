import { SignageError } from '../domain/error.ts';
import { type MediaType, mediaTypes } from '../domain/media/media-types.ts';

/** Number of first bytes that show the type of nearly every file. */
export const headBytes = 64 * 1024;
/** Number of first bytes that decide. A long comment may stand before the root of an SVG. */
export const maxHeadBytes = 1024 * 1024;

const accepted = 'PNG, JPEG, WebP, GIF, AVIF, SVG, MP4, WebM and single HTML pages';

const heic =
  'This is a HEIC image, which browsers do not show. Convert it to JPEG, such as by `heif-convert photo.heic photo.jpg`, or set the camera of the phone to "most compatible".';
const quickTime =
  'This is a QuickTime video (MOV), which few TVs play. Convert it to MP4: ffmpeg -i video.mov -c:v libx264 -pix_fmt yuv420p -movflags +faststart video.mp4';
const matroska =
  'This is a Matroska video (MKV), which few TVs play. Convert it to MP4: ffmpeg -i video.mkv -c:v libx264 -pix_fmt yuv420p -movflags +faststart video.mp4';

const refused = (message: string) => new SignageError('media_not_accepted', message);

/** Types of `file-type` with another name than ours. */
const sameAs: Readonly<Record<string, MediaType>> = {
  'image/apng': 'image/png',
  'video/x-m4v': 'video/mp4',
};

/** Types with advice of their own. */
const advice: Readonly<Record<string, string>> = {
  'video/quicktime': quickTime,
  'video/matroska': matroska,
  'image/heic': heic,
  'image/heif': heic,
  'image/heic-sequence': heic,
  'image/heif-sequence': heic,
};

/**
 * Returns the brands of an ISO media file, the main one first. An AVIF image may have `mif1`, which
 * HEIC images have, as its main brand.
 */
function brandsOf(head: Buffer): string[] {
  if (head.toString('latin1', 4, 8) !== 'ftyp') return [];
  const end = Math.min(head.readUInt32BE(0), head.length);
  const brands = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}

/** Whether a text begins with the byte order mark of UTF-16, which also begins some MP3 files. */
const isUtf16 = (head: Buffer) =>
  /^(?:\xff\xfe[^\0]\0|\xfe\xff\0[^\0])/.test(head.toString('latin1', 0, 4));

const svgNamespace = 'http://www.w3.org/2000/svg';
/** What may stand before the first element: white space, comments, and declarations of XML. */
const beforeRoot = /^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->)*/;

/** Returns the type of a text, or `undefined` if its root has not come yet. */
async function typeOfText(head: Uint8Array, isWhole: boolean): Promise<MediaType | undefined> {
  const { decodeMarkup, readXmlRoot } = await import('./markup.ts');
  const markup = decodeMarkup(head, isWhole);
  const start = markup.text.replace(beforeRoot, '');
  if (/^<(?:!doctype\s+html|html)[\s>]/i.test(start)) return 'text/html';
  const root = /^\s*</.test(markup.text) ? readXmlRoot(markup) : undefined;
  if (root?.name === 'svg') {
    if (root.namespace !== svgNamespace)
      throw refused(
        `Browsers do not show this SVG: its root element lacks xmlns="${svgNamespace}".`,
      );
    if (root.fault !== undefined)
      throw refused(`Browsers do not show this SVG, because it is not well-formed: ${root.fault}.`);
    return 'image/svg+xml';
  }
  if (root?.name === 'html') return 'text/html';
  const mayCome = /^\s*(?:<|$)/.test(markup.text) && !root && !markup.isDamaged;
  if (mayCome && !isWhole && head.length < maxHeadBytes) return undefined;
  throw refused(`This is none of the accepted types: ${accepted}. A page needs <!doctype html>.`);
}

/**
 * Returns the type of a file by its content, never by its name. Throws `media_not_accepted`, whose
 * message says how to convert the file.
 *
 * @param head the first `headBytes` of the file, or all of it if it is shorter
 * @param isWhole whether `head` is the whole file. Only then the end of an SVG is checked
 * @returns `undefined` if `head` does not decide. Call it again with up to `maxHeadBytes`.
 */
export async function mediaTypeOf(
  head: Uint8Array,
  isWhole: boolean,
): Promise<MediaType | undefined> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (bytes.length === 0) throw refused('The file is empty.');
  if (brandsOf(bytes).some((brand) => brand === 'avif' || brand === 'avis')) return 'image/avif';
  if (isUtf16(bytes)) return typeOfText(bytes, isWhole);
  // Loaded with the first file: a service without uploads saves 10 MB.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = (await fileTypeFromBuffer(bytes))?.mime;
  if (found === undefined || found === 'application/xml') return typeOfText(bytes, isWhole);
  const type = sameAs[found] ?? found;
  if (Object.hasOwn(mediaTypes, type)) return type as MediaType;
  throw refused(
    advice[found] ?? `This is a file of the type ${found}. The accepted types are ${accepted}.`,
  );
}
