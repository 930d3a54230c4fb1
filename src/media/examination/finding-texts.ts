import type { FileFinding } from './file-finding.ts';
import type { Picture } from './formats/picture.ts';

const encode = '-c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4';
export const addPicture = `ffmpeg -loop 1 -i PICTURE.jpg -i IN -shortest ${encode}`;

type Texts = Pick<FileFinding, 'detail' | 'effect' | 'advice'>;
const error = (check: FileFinding['check'], texts: Texts): FileFinding => ({
  check,
  level: 'error',
  ...texts,
});
const warning = (check: FileFinding['check'], texts: Texts): FileFinding => ({
  check,
  level: 'warning',
  ...texts,
});

const bytesText = (count: number) => `${count.toLocaleString('en')} bytes`;

export const costly = () =>
  error('truncated', {
    detail: 'The file has more parts than any healthy file of its kind, or is damaged.',
    effect: 'TVs may fail at it.',
    advice: 'Export it again with another program.',
  });

/** A file that ends early. `expectedBytes`: the size of the whole file, if it says so. */
export const truncated = (bytes: number, expectedBytes?: number) =>
  error('truncated', {
    detail:
      expectedBytes === undefined
        ? `The file is cut: it ends early, after ${bytesText(bytes)}.`
        : `The file is cut: it has ${bytesText(bytes)} of ${bytesText(expectedBytes)}.`,
    effect: 'TVs show only a part of it, or nothing.',
    advice: 'Copy or export it again.',
  });

export const noEnd = (advice: string) =>
  warning('end', {
    detail: 'The file lacks its end, but no large part of what it shows.',
    effect: 'Some TVs refuse it, or leave out its last rows.',
    advice: `Write it anew: ${advice}`,
  });

export const noIndex = () =>
  error('moov', {
    detail: 'The video has no index (the box moov): it is cut, or its recording did not end.',
    effect: 'No TV plays it.',
    advice: 'Copy or export it again.',
  });

export const indexBehind = () =>
  warning('moov', {
    detail: 'The index of the video (the box moov) comes after its media data.',
    effect: 'A TV that streams starts late, because it must load the end first.',
    advice: 'Move it to the front: ffmpeg -i IN -c copy -movflags +faststart OUT.mp4',
  });

export const noPicture = () =>
  error('sound', {
    detail: 'The file has sound, but no picture.',
    effect: 'TVs show nothing.',
    advice: `Give it a picture: ${addPicture}`,
  });

export const unreadable = () =>
  error('truncated', {
    detail: 'The video is damaged: its index names no picture that can be read.',
    effect: 'No TV plays it.',
    advice: 'Export it again with another program.',
  });

export const codec = (name: string, who: string) =>
  warning('codec', {
    detail: `The video is encoded as ${name}.`,
    effect: who,
    advice: `Convert it: ffmpeg -i IN ${encode}`,
  });

export const rotated = (degrees: number) =>
  warning('rotation', {
    detail: `The video says that it is to be turned by ${degrees} degrees.`,
    effect: 'Some TVs show it on its side, and some show nothing.',
    advice: `Turn its pictures: ffmpeg -i IN ${encode}`,
  });

export const interlaced = () =>
  warning('interlaced', {
    detail: 'The video is interlaced.',
    effect: 'Browsers show combs at the edges of what moves.',
    advice: `Convert it: ffmpeg -i IN -vf yadif ${encode}`,
  });

export const variableRate = () =>
  warning('frame-rate', {
    detail: 'The frame rate of the video varies.',
    effect: 'Some TVs play it unevenly, or lose its sound.',
    advice: `Give it one rate: ffmpeg -i IN -r 30 ${encode}`,
  });

/** Browsers hold 4 bytes a pixel, and at most 2 GiB. */
const maxPixels = 2 ** 29;
const maxPngSide = 1_000_000;
/** The largest texture of most TVs, and four times the pixels of most of them. */
const usualSide = 4096;
const usualPixels = 16 * 1024 * 1024;

/** Returns what is wrong with the size of a picture or video. */
export function sizeFindings(
  { width = 0, height = 0 }: Pick<Picture, 'width' | 'height'>,
  advice: string,
): FileFinding[] {
  const pixels = width * height;
  if (width <= usualSide && height <= usualSide && pixels <= usualPixels) return [];
  const cannot = pixels > maxPixels || width > maxPngSide || height > maxPngSide;
  const millions = (pixels / 1e6).toFixed(0);
  const level = cannot ? error : warning;
  return [
    level('pixels', {
      detail: `It has ${width} × ${height} pixels, which are ${millions} megapixels.`,
      effect: cannot
        ? 'No browser draws so many. TVs show up to 4096 pixels a side, and 16 megapixels.'
        : 'Some TVs show nothing of more than 4096 pixels a side, or 16 megapixels.',
      advice: `Make it smaller: ${advice}`,
    }),
  ];
}

/** Returns what is wrong with a picture. */
export function pictureFindings(picture: Picture, bytes: number, extension: string): FileFinding[] {
  const { isCostly, cut, expectedBytes, isAnimated, orientation = 1, isCmyk } = picture;
  if (isCostly) return [costly()];
  const out = extension === 'jpg' ? 'OUT.jpg' : 'OUT.png';
  const found = sizeFindings(picture, `magick IN -resize '3840x3840>' ${out}`);
  if (found.some(({ level }) => level === 'error')) return found;
  if (cut === 'picture') return [truncated(bytes, expectedBytes)];
  if (cut === 'end') found.push(noEnd(`magick IN ${isAnimated ? 'OUT.gif' : out}`));
  if (orientation > 1 && orientation <= 8)
    found.push(
      warning('orientation', {
        detail: `The picture says that it is to be turned (Exif orientation ${orientation}).`,
        effect: 'Panels with a browser older than Chromium 81 may show it on its side.',
        advice: `Turn its pixels: magick IN -auto-orient ${out}`,
      }),
    );
  if (isCmyk)
    found.push(
      warning('colours', {
        detail: 'The picture has the colours of a printer (CMYK).',
        effect: 'TVs show other colours, or nothing.',
        advice: `Convert it: magick IN -colorspace sRGB ${out}`,
      }),
    );
  if (isAnimated)
    found.push(
      warning('animation', {
        detail: 'The picture is animated.',
        effect: 'Many TVs play it unevenly, and it ends with its item, not with its last frame.',
        advice: `Make it a video: ffmpeg -i IN ${encode}`,
      }),
    );
  return found;
}
