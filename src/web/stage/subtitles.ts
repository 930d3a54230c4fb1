import type { PlaybackFailure } from '../../player/stage.ts';
import type { MediaSource } from '../media/media-library.ts';

/**
 * Shows subtitles over a video until the signal aborts. The video plays without them, meanwhile and
 * if they fail. Only stored subtitles are shown: a `blob:` URL is of the origin of the page. A
 * track of another origin would need `crossorigin` at the video, which breaks the video if its host
 * does not allow other origins.
 */
export async function showSubtitles(
  video: HTMLVideoElement,
  opening: Promise<MediaSource | PlaybackFailure>,
  signal: AbortSignal,
  onFailure: (reason: PlaybackFailure) => void,
): Promise<void> {
  const source = await opening;
  if (typeof source === 'string') {
    onFailure(source);
    return;
  }
  if (signal.aborted || source.file === undefined) {
    source.release();
    return;
  }
  const element = document.createElement('track');
  element.kind = 'subtitles';
  element.src = source.src;
  element.addEventListener('error', () => onFailure('not_media'));
  signal.addEventListener('abort', () => {
    element.remove();
    source.release();
  });
  video.append(element);
  element.track.mode = 'showing';
}
