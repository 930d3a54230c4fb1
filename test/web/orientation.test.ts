import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orientationIn } from '../../src/web/stage/orientation.ts';
import { withOrientation } from '../support/browser/exif.ts';

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  new DataView(buffer, byteOffset, length);
// The start of a JPEG, a segment of the JFIF metadata, and the start of the scan.
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffda0002', 'hex');

it('the orientation of a JPEG is that of its EXIF metadata, in both orders of bytes', () => {
  for (let orientation = 1; orientation <= 8; orientation++)
    for (const isLittle of [true, false])
      expect(orientationIn(viewOf(withOrientation(jpeg, orientation, isLittle)))).toBe(orientation);
});

it('a JPEG without EXIF metadata and any other file are upright', () => {
  expect(orientationIn(viewOf(jpeg))).toBe(1);
  expect(orientationIn(viewOf(Buffer.from('not a picture')))).toBe(1);
  const exif = withOrientation(jpeg, 6, true);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 31 }), (length) => {
      expect(orientationIn(viewOf(exif.subarray(0, length)))).toBe(1);
    }),
  );
});

it('ends for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(orientationIn(viewOf(Buffer.concat([jpeg.subarray(0, 2), bytes])))).toBeTypeOf(
        'number',
      );
    }),
  );
});
