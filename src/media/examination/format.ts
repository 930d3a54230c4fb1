import { fileTypeFromBuffer } from 'file-type';
import { isMediaType, mediaTypes } from '../../domain/media/media-types.ts';
import { addPicture } from './finding-texts.ts';
import { fromFirstTag, type Markup, svgNamespace, type Xml } from './markup.ts';

/** The type of a file, according to its first bytes. */
export interface FileFormat {
  name: string;
  /** The `creativeType` with which browsers show the format. `other`: they do not show it. */
  kind: 'image' | 'video' | 'html' | 'other';
  /** Reason why browsers do not show a file of this format. */
  flaw?: string;
  /** How to convert a file that the service does not keep. */
  advice?: string;
}

/** Types of file-type with another name than ours. */
const sameAs: Readonly<Record<string, string>> = {
  'image/apng': 'image/png',
  'image/heif': 'image/heic',
  'image/heic-sequence': 'image/heic',
  'image/heif-sequence': 'image/heic',
  'video/x-m4v': 'video/mp4',
  'video/ogg': 'application/ogg',
  'video/MP1S': 'video/mpeg',
  'video/MP2P': 'video/mpeg',
};

const toMp4 =
  'Convert it to MP4: ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4';
const toPng = 'Convert it to PNG: magick IN OUT.png';
const toPictures = 'Turn its pages into pictures: pdftoppm -jpeg -r 150 IN OUT';
const slides = [
  'a presentation',
  'other',
  'Turn its slides into pictures: soffice --headless --convert-to pdf IN, and then pdftoppm -jpeg -r 150 OUT.pdf OUT',
] as const;
const text = [
  'a text document',
  'other',
  'Turn its pages into pictures: soffice --headless --convert-to pdf IN, and then pdftoppm -jpeg -r 150 OUT.pdf OUT',
] as const;

type TypeRow = readonly [name: string, kind: FileFormat['kind'], advice?: string];

/** Types that the service does not keep. */
const others: Readonly<Record<string, TypeRow>> = {
  'image/bmp': ['a BMP image', 'image', toPng],
  'image/heic': [
    'a HEIC image',
    'other',
    'Convert it to JPEG, such as by heif-convert IN OUT.jpg, or set the camera of the phone to "most compatible".',
  ],
  'image/tiff': ['a TIFF image', 'other', toPng],
  'image/vnd.adobe.photoshop': ['a Photoshop image', 'other', toPng],
  'image/jxl': ['a JPEG XL image', 'other', toPng],
  'video/quicktime': ['a QuickTime video (MOV)', 'video', toMp4],
  'video/matroska': ['a Matroska video (MKV)', 'video', toMp4],
  'video/3gpp': ['a 3GPP video', 'video', toMp4],
  'application/ogg': ['an Ogg video', 'video', toMp4],
  'video/vnd.avi': ['an AVI video', 'other', toMp4],
  'video/mp2t': ['an MPEG transport stream', 'other', toMp4],
  'video/mpeg': ['an MPEG programme stream', 'other', toMp4],
  'video/x-ms-asf': ['a Windows Media video', 'other', toMp4],
  'video/x-flv': ['a Flash video', 'other', toMp4],
  'application/pdf': ['a PDF file', 'other', toPictures],
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': slides,
  'application/vnd.oasis.opendocument.presentation': slides,
  'application/x-cfb': ['a document of an old office program', 'other', slides[2]],
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': text,
  'application/vnd.oasis.opendocument.text': text,
  'application/zip': ['a ZIP archive', 'other', 'Unpack it, and show the files in it.'],
};

/** Returns the row of a type that the service does not keep. */
function otherType(type: string): TypeRow {
  if (type.startsWith('audio/'))
    return ['sound without a picture', 'other', `Give it a picture: ${addPicture}`];
  return others[type] ?? [`a file of the type ${type}`, 'other'];
}

/** Tags that identify HTML: WHATWG MIME Sniffing, section 7.1. */
const htmlTag =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]/i;

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

/** Returns the type of a file by its first bytes. `undefined`: it may be a text. */
export async function binaryType(head: Buffer): Promise<string | undefined> {
  if (brandsOf(head).some((brand) => brand === 'avif' || brand === 'avis')) return 'image/avif';
  if (isUtf16(head)) return undefined;
  const found = (await fileTypeFromBuffer(head))?.mime;
  // A text may begin with BM, too.
  const isText = found === 'application/xml' || (found === 'image/bmp' && !head.includes(0));
  return found === undefined || isText ? undefined : (sameAs[found] ?? found);
}

function xmlFormat({ root, flaw, excess }: Xml): FileFormat | undefined {
  if (excess !== undefined)
    return { name: `an XML file that takes too much to examine (${excess})`, kind: 'other' };
  if (root?.name === 'MPD') return { name: 'a DASH manifest', kind: 'other' };
  if (root?.name !== 'svg') return undefined;
  const isSvg = root.namespace === svgNamespace;
  const reason = isSvg ? flaw : `its root element lacks xmlns="${svgNamespace}"`;
  return { name: 'an SVG image', kind: 'image', ...(reason !== undefined && { flaw: reason }) };
}

/** Returns the format of a text by its first tag. */
function formatOfStart(text: string): FileFormat | undefined {
  const start = fromFirstTag(text);
  if (start.startsWith('#EXTM3U')) return { name: 'an HLS playlist', kind: 'other' };
  return htmlTag.test(start) ? { name: 'an HTML page', kind: 'html' } : undefined;
}

/**
 * Returns the format of a file of a type, or of a text. `undefined`: it is unknown, such as HTML
 * without a well-known first tag.
 */
export function formatOf(
  type: string | undefined,
  { markup, xml }: { markup: Markup; xml: Xml | undefined },
): FileFormat | undefined {
  if (type === undefined) return (xml && xmlFormat(xml)) ?? formatOfStart(markup.text);
  if (isMediaType(type))
    return { name: mediaTypes[type].name, kind: mediaTypes[type].creativeType };
  const [name, kind, advice] = otherType(type);
  return { name, kind, ...(advice !== undefined && { advice }) };
}
