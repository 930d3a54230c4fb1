import { decodeMarkup, readXmlRoot, type XmlRoot } from '../../../media/markup.ts';

/** The type of a file, according to its first bytes. */
export interface Format {
  name: string;
  /** The `creativeType` with which browsers show the format. `other`: they do not show it. */
  kind: 'image' | 'video' | 'html' | 'other';
  /** Reason why browsers do not show a file of this format. */
  fault?: string;
}

type Matches = (bytes: Buffer) => boolean;

const at =
  (offset: number, signature: string): Matches =>
  (bytes) =>
    bytes.toString('latin1', offset, offset + signature.length) === signature;

const both =
  (one: Matches, other: Matches): Matches =>
  (bytes) =>
    one(bytes) && other(bytes);

const brand = (pattern: RegExp): Matches =>
  both(at(4, 'ftyp'), (bytes) => pattern.test(bytes.toString('latin1', 8, 12)));

/** Tags that identify HTML: WHATWG MIME Sniffing, section 7.1. */
const htmlTag =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]/i;

/** Signatures: WHATWG MIME Sniffing, section 6, and common formats that browsers do not show. */
const formats: readonly (readonly [matches: Matches, name: string, kind: Format['kind']])[] = [
  [at(0, '\xff\xd8\xff'), 'a JPEG image', 'image'],
  [at(0, '\x89PNG\r\n\x1a\n'), 'a PNG image', 'image'],
  [at(0, 'GIF8'), 'a GIF image', 'image'],
  [both(at(0, 'RIFF'), at(8, 'WEBP')), 'a WebP image', 'image'],
  [both(at(0, 'BM'), at(6, '\0\0\0\0')), 'a BMP image', 'image'],
  [brand(/^avi[fs]$/), 'an AVIF image', 'image'],
  [brand(/^(?:hei[cxms]|hev[cx]|mif1|msf1)$/), 'a HEIC image', 'other'],
  [at(0, 'II*\0'), 'a TIFF image', 'other'],
  [at(0, 'MM\0*'), 'a TIFF image', 'other'],
  [at(4, 'ftyp'), 'an MP4 video', 'video'],
  [
    (bytes) => /^(?:moov|mdat|wide|free|skip)$/.test(bytes.toString('latin1', 4, 8)),
    'an MP4 video',
    'video',
  ],
  [at(0, '\x1a\x45\xdf\xa3'), 'a WebM video', 'video'],
  [at(0, 'OggS'), 'an Ogg video', 'video'],
  [both(at(0, 'RIFF'), at(8, 'AVI ')), 'an AVI video', 'other'],
  [both(at(0, 'G'), at(188, 'G')), 'an MPEG transport stream', 'other'],
  [at(0, '\0\0\x01\xba'), 'an MPEG programme stream', 'other'],
  [at(0, '\x30\x26\xb2\x75'), 'a Windows Media file', 'other'],
  [at(0, 'FLV'), 'a Flash video', 'other'],
  [at(0, '%PDF-'), 'a PDF file', 'other'],
  [at(0, 'PK\x03\x04'), 'a ZIP archive', 'other'],
  [at(0, '\x1f\x8b'), 'a gzip archive', 'other'],
];

const svgNamespace = 'http://www.w3.org/2000/svg';

function svgFormat({ namespace, fault }: XmlRoot): Format {
  const isSvg = namespace === svgNamespace;
  const reason = isSvg ? fault : `its root element lacks xmlns="${svgNamespace}"`;
  return { name: 'an SVG image', kind: 'image', ...(reason !== undefined && { fault: reason }) };
}

function sniffText(bytes: Buffer, isWhole: boolean): Format | undefined {
  const markup = decodeMarkup(bytes, isWhole);
  const start = markup.text.slice(0, 2048).replace(/^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->)*/, '');
  if (/^#EXTM3U/.test(start)) return { name: 'an HLS playlist', kind: 'other' };
  const root = /^\s*</.test(markup.text) ? readXmlRoot(markup) : undefined;
  if (root?.name === 'svg') return svgFormat(root);
  if (root?.name === 'MPD') return { name: 'a DASH manifest', kind: 'other' };
  return htmlTag.test(start) ? { name: 'an HTML page', kind: 'html' } : undefined;
}

/**
 * Returns the format of a file by its first bytes, or `undefined` if it is unknown. HTML without a
 * well-known first tag is unknown, too. `isWhole`: the bytes are the whole file.
 */
export function sniff(bytes: Buffer, isWhole = false): Format | undefined {
  const found = formats.find(([matches]) => matches(bytes));
  return found ? { name: found[1], kind: found[2] } : sniffText(bytes, isWhole);
}
