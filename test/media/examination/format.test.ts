import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/media/examination/examine.ts';
import { svgFiles } from '../../cli/playlist/media/svg-files.ts';

const formatOf = async (head: Buffer, isWhole = false) => (await examine({ head, isWhole })).format;
const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('the format of an SVG image', () => {
  it.each(svgFiles)('with %s', async (_, text, flaw) => {
    const format = { name: 'an SVG image', kind: 'image' };
    expect(await formatOf(Buffer.from(text as string), true)).toEqual(
      flaw === undefined ? format : { ...format, flaw },
    );
  });

  it('of which only the beginning was read, reports no missing end', async () =>
    expect(
      await formatOf(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><g>€`).subarray(0, -1)),
    ).toEqual({ name: 'an SVG image', kind: 'image' }));
});

describe('the format of a file', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'a JPEG image', 'image'],
    ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'a PNG image', 'image'],
    ['GIF89a', 'a GIF image', 'image'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'a WebP image', 'image'],
    ['BM\x10\0\0\0\0\0\0\0', 'a BMP image', 'image'],
    ['\0\0\0\x1cftypavif', 'an AVIF image', 'image'],
    ['\0\0\0\x1cftypheic', 'a HEIC image', 'other'],
    ['II*\0', 'a TIFF image', 'other'],
    ['\0\0\0\x18ftypmp42', 'an MP4 video', 'video'],
    ['\0\0\0\x18ftyp3gp4', 'a 3GPP video', 'video'],
    ['\0\0\0\x18ftypqt  ', 'a QuickTime video (MOV)', 'video'],
    ['\0\0\0\x18moov', 'a QuickTime video (MOV)', 'video'],
    ['\0\0\0\x18ftypM4A ', 'sound without a picture', 'other'],
    ['\x1a\x45\xdf\xa3\x87\x42\x82\x84webm', 'a WebM video', 'video'],
    ['\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska', 'a Matroska video (MKV)', 'video'],
    [`OggS\0\x02${'\0'.repeat(22)}\x80theora${'\0'.repeat(20)}`, 'an Ogg video', 'video'],
    ['RIFF\x10\0\0\0AVI LIST', 'an AVI video', 'other'],
    [`G${'\0'.repeat(187)}G`, 'an MPEG transport stream', 'other'],
    ['%PDF-1.7', 'a PDF file', 'other'],
    ['#EXTM3U\n#EXT-X-VERSION:3', 'an HLS playlist', 'other'],
    ['<?xml version="1.0"?>\n<MPD xmlns="x">', 'a DASH manifest', 'other'],
    ['\n <!DOCTYPE HTML>', 'an HTML page', 'html'],
    ['\xef\xbb\xbf<html lang="en">', 'an HTML page', 'html'],
    ['<!-- a --><script>', 'an HTML page', 'html'],
  ])('%j is %s', async (text, name, kind) => {
    expect(await formatOf(latin1(text))).toMatchObject({ name, kind });
  });

  it.each(['', 'soup', '{"error":1}', '<?xml version="1.0"?><Error>', 'BMW is a car'])(
    '%j is unknown',
    async (text) => expect(await formatOf(latin1(text))).toBeUndefined(),
  );

  it('is found for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (head) => {
        const { type, refusal } = await examine({ head, isWhole: true });
        expect(type === undefined).toBe(refusal !== undefined);
      }),
    );
  });
});
