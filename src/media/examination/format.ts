import { fileTypeFromBuffer } from 'file-type';
import { isMediaType, mediaTypes } from '../../domain/media/media-types.ts';
import { fromFirstTag, type Markup, svgNamespace, type Xml } from './markup.ts';

/** The type of a file, according to its first bytes. */
export interface FileFormat {
  name: string;
  /** The `creativeType` with which browsers show the format. `other`: they do not show it. */
  kind: 'image' | 'video' | 'html' | 'other';
  /** Reason why browsers do not show a file of this format. */
  flaw?: string;
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

/** Types that the service does not keep. */
const others: Readonly<Record<string, readonly [name: string, kind: FileFormat['kind']]>> = {
  'image/bmp': ['a BMP image', 'image'],
  'image/heic': ['a HEIC image', 'other'],
  'image/tiff': ['a TIFF image', 'other'],
  'video/quicktime': ['a QuickTime video', 'video'],
  'video/matroska': ['a Matroska video', 'video'],
  'video/3gpp': ['a 3GPP video', 'video'],
  'application/ogg': ['an Ogg video', 'video'],
  'video/vnd.avi': ['an AVI video', 'other'],
  'video/mp2t': ['an MPEG transport stream', 'other'],
  'video/mpeg': ['an MPEG programme stream', 'other'],
  'application/pdf': ['a PDF file', 'other'],
  'application/zip': ['a ZIP archive', 'other'],
};

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
  const [name, kind] = others[type] ?? [`a file of the type ${type}`, 'other'];
  return { name, kind };
}
