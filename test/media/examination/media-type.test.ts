// Types of media by content (docs/protocol.md §5.14).
import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/media/examination/examine.ts';
import { headBytes } from '../../../src/media/examination/verdict.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const ftyp = (main: string, ...others: string[]) => {
  const brands = others.join('');
  return Buffer.concat([
    Buffer.from([0, 0, 0, 16 + brands.length]),
    bytes(`ftyp${main}\0\0\0\0${brands}`),
    Buffer.from([0, 0, 0, 8]),
    bytes('mdat'),
  ]);
};
const ebml = (docType: string) =>
  Buffer.concat([
    Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 + 3 + docType.length, 0x42, 0x82]),
    Buffer.from([0x80 + docType.length]),
    bytes(docType),
  ]);
const png = Buffer.concat([
  bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0'),
  bytes('\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef'),
  bytes('\0\0\0\0IEND\xaeB`\x82'),
]);
const svg = (inside = '', before = '') =>
  `${before}<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`;
const doctype = (subset: string) => `<!DOCTYPE svg [${subset}]>`;
const webp = bytes('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0');
const gif = bytes(
  'GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;',
);

async function judge(content: Buffer | string, isWhole = true): Promise<string | undefined> {
  const { type, refusal } = await examine({ head: Buffer.from(content as string), isWhole });
  return type ?? refusal;
}

describe('the type of a file', () => {
  it.each<[string, Buffer | string, string]>([
    ['a PNG', png, 'image/png'],
    ['a JPEG', bytes('\xff\xd8\xff\xe0\0\x10JFIF\0'), 'image/jpeg'],
    ['a WebP', webp, 'image/webp'],
    ['a GIF', gif, 'image/gif'],
    ['an AVIF', ftyp('avif', 'mif1'), 'image/avif'],
    ['an AVIF whose main brand is of HEIF', ftyp('mif1', 'mif1', 'avif', 'miaf'), 'image/avif'],
    ['an MP4', ftyp('isom', 'iso2', 'mp41'), 'video/mp4'],
    ['an MP4 of iTunes', ftyp('M4V '), 'video/mp4'],
    ['a WebM', ebml('webm'), 'video/webm'],
    ['an SVG', svg(), 'image/svg+xml'],
    ['an SVG with a prefix', '<a:svg xmlns:a="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['an SVG in UTF-16', utf16(svg()), 'image/svg+xml'],
    ['an SVG behind a byte order mark', `\ufeff${svg()}`, 'image/svg+xml'],
    [
      'an SVG with entities of its own',
      `<!DOCTYPE svg [<!ENTITY n "http://www.w3.org/2000/svg">]><svg xmlns="&n;"/>`,
      'image/svg+xml',
    ],
    ['an SVG with deep nesting', svg('<g>'.repeat(5000) + '</g>'.repeat(5000)), 'image/svg+xml'],
    ['a page', '<!doctype html><p>menu', 'text/html'],
    ['a page without a doctype', '\n<!-- menu -->\n<HTML><p>menu', 'text/html'],
    ['a page that contains an SVG', `<!doctype html>${svg()}`, 'text/html'],
    [
      'a page in XHTML',
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>',
      'text/html',
    ],
    ['a PNG with a page behind it', Buffer.concat([png, bytes('<!doctype html>')]), 'image/png'],
    ['a GIF that is a script', Buffer.concat([gif, bytes('=1;alert(1)')]), 'image/gif'],
  ])('finds %s', async (_, content, type) => {
    expect(await judge(content)).toBe(type);
  });

  it.each<[string, Buffer | string, RegExp]>([
    ['nothing', '', /empty/],
    ['HEIC', ftyp('heic', 'mif1'), /HEIC.*Convert it to JPEG/],
    ['HEIC of the brand mif1', ftyp('mif1', 'heic'), /HEIC/],
    ['MOV', ftyp('qt  '), /MOV.*ffmpeg/],
    ['MKV', ebml('matroska'), /MKV.*ffmpeg/],
    ['PDF', '%PDF-1.7\n', /a PDF file.*pdftoppm -jpeg/],
    ['sound', ftyp('M4A '), /sound without a picture.*ffmpeg -loop 1/],
    ['text', 'a menu', /none of the accepted types/],
    ['a fragment of a page', '<p>menu</p>', /<!doctype html>/],
    ['JSON', '{"a":"<svg>"}', /none of the accepted types/],
    ['an SVG without its namespace', '<svg/>', /lacks xmlns=/],
    ['an SVG with an unknown entity', svg('&nbsp;'), /not well-formed: line 1: undefined entity/],
    ['an SVG without its end', svg().slice(0, -6), /not well-formed/],
    ['an SVG in Latin-1', bytes(svg('<text>\xe4</text>')), /encoding is not UTF-8/],
  ])('refuses %s', async (_, content, reason) => {
    expect(await judge(content)).toMatch(reason);
  });

  it('is refused if its first 64 KiB have no root', async () => {
    const long = svg('', `<!--${'-x'.repeat(headBytes)}-->`);
    expect(await judge(long.slice(0, headBytes), false)).toMatch(/64 KiB .* no root.*Shorten/);
  });

  // What Adobe Illustrator writes, and what stands for much more than it is long.
  it.each<[string, string, string | RegExp]>([
    ['entities of namespaces', doctype(`<!ENTITY ns "${'x'.repeat(2500)}">`), 'image/svg+xml'],
    ['a DOCTYPE of more than 4 KiB', doctype('<!---->'.repeat(600)), /DOCTYPE .* 4096 .*without/],
    [
      'entities in namespaces',
      `${doctype(`<!ENTITY a "${'x'.repeat(3000)}">`)}<svg xmlns:a="${'&a;'.repeat(30)}"/>`,
      /entities stand for more than 65536/,
    ],
    [
      'entities in a text',
      `${doctype(`<!ENTITY a "${'x'.repeat(3000)}">`)}<svg>${'&a;'.repeat(30)}</svg>`,
      /entities stand for more than 65536/,
    ],
  ])('with %s', async (_, text, expected) => {
    expect(await judge(text.includes('<svg') ? text : svg('', text))).toMatch(expected);
  });

  it('does not judge the end of a file from its first bytes', async () => {
    expect(await judge(svg().slice(0, -3), false)).toBe('image/svg+xml');
  });
});
