import type { PlaybackFailure } from '../../player/stage.ts';
import type { MediaSource } from '../media/media-library.ts';
import type { MediaLook } from '../settings/page-settings.ts';
import { never } from '../settings/timing.ts';
import { type Layer, nextEvent } from './layer.ts';
import { turnUpright } from './orientation.ts';

/** Returns why an image from this source cannot be decoded. */
function failureOf({ file }: MediaSource): PlaybackFailure {
  if (!file) return 'unreachable';
  return file.type.startsWith('image/') ? 'codec' : 'not_media';
}

async function decode(image: HTMLImageElement, source: MediaSource) {
  const ended = Promise.race([
    nextEvent(image, 'load').then(() => true),
    nextEvent(image, 'error').then(() => false),
  ]);
  image.src = source.src;
  if (!(await ended) || image.naturalWidth === 0) return failureOf(source);
  if (source.file) await turnUpright(image, source.file);
  // Chromium 63 has no `decode`, and decodes an image when it paints the image.
  if (!image.decode) return undefined;
  return image.decode().then(
    () => undefined,
    () => failureOf(source),
  );
}

export function makeImageLayer(parent: HTMLElement, source: MediaSource, look: MediaLook): Layer {
  const element = document.createElement('img');
  element.className = 'layer';
  element.style.objectFit = look.fit;
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
