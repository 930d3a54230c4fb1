import type { PlaybackFailure } from '../../player/stage.ts';
import type { MediaSource } from '../media/media-library.ts';
import { never } from '../settings/timing.ts';
import { type Layer, nextEvent } from './layer.ts';
import { orientationIn } from './orientation.ts';

/** The metadata of a picture are in segments at the start of its file. */
const headBytes = 256 * 1024;

/** Returns why an image from this source cannot be decoded. */
function failureOf({ file }: MediaSource): PlaybackFailure {
  if (!file) return 'unreachable';
  return file.type.startsWith('image/') ? 'codec' : 'not_media';
}

/** Turns a picture as its metadata say, in a browser that does not: Chromium before 81. */
async function applyOrientation(image: HTMLImageElement, file: Blob): Promise<void> {
  if (CSS.supports('image-orientation', 'from-image')) return;
  const head = await new Response(file.slice(0, headBytes)).arrayBuffer();
  image.setAttribute('data-orientation', String(orientationIn(new DataView(head))));
}

async function decode(image: HTMLImageElement, source: MediaSource) {
  if (source.file) await applyOrientation(image, source.file);
  const ended = Promise.race([
    nextEvent(image, 'load').then(() => true),
    nextEvent(image, 'error').then(() => false),
  ]);
  image.src = source.src;
  if (!(await ended) || image.naturalWidth === 0) return failureOf(source);
  // Chromium 63 has no `decode`, and decodes an image when it paints the image.
  if (!image.decode) return undefined;
  return image.decode().then(
    () => undefined,
    () => failureOf(source),
  );
}

export function makeImageLayer(parent: HTMLElement, source: MediaSource): Layer {
  const element = document.createElement('img');
  element.className = 'layer';
  parent.append(element);
  return {
    element,
    ready: decode(element, source),
    start: async () => undefined,
    failed: never,
    usesDecoder: false,
    isPage: false,
    dispose() {
      element.remove();
      element.removeAttribute('src');
      source.release();
    },
  };
}
