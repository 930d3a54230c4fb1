import { secondMs } from '../../domain/clock.ts';
import type { PlaybackFailure } from '../../player/stage.ts';
import type { MediaSource } from '../media/media-library.ts';
import { type Layer, nextEvent } from './layer.ts';

/**
 * A video that ends in the last second of its time keeps its last frame. An earlier end repeats the
 * video.
 */
const standStillMs = secondMs;
/** Time without progress after which the video has stalled. */
const stallMs = 8 * secondMs;
const checkMs = secondMs;

/**
 * The two video elements of the page. TVs have one or two decoders. On some TVs, creating elements
 * for each item leaks memory. A stalled element is reset instead of replaced.
 */
export class VideoPool {
  readonly #free: HTMLVideoElement[];

  constructor(parent: HTMLElement) {
    this.#free = [0, 1].map(() => {
      const video = document.createElement('video');
      video.className = 'layer';
      video.setAttribute('playsinline', '');
      video.preload = 'auto';
      parent.append(video);
      return video;
    });
  }

  /** Returns a free element, or `undefined` if both are in use. */
  take(): HTMLVideoElement | undefined {
    return this.#free.pop();
  }

  giveBack(video: HTMLVideoElement): void {
    this.#free.push(video);
  }
}

function failureOf(video: HTMLVideoElement, { file }: MediaSource): PlaybackFailure {
  if (!file && video.error?.code !== MediaError.MEDIA_ERR_DECODE) return 'unreachable';
  return /^(?:video|audio)\/|octet-stream/.test(file?.type ?? 'video/') ? 'codec' : 'not_media';
}

/** Resolves once a new frame is presented. */
function nextPicture(video: HTMLVideoElement, signal: AbortSignal): Promise<unknown> {
  if (video.requestVideoFrameCallback)
    return new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  return nextEvent(video, 'timeupdate', signal);
}

/**
 * Plays the video. Mutes the video if the browser forbids sound. Tells `onSound`
 * whether the browser allows the sound of an unmuted video.
 */
async function play(video: HTMLVideoElement, onSound: (isAllowed: boolean) => void): Promise<void> {
  const isSilent = video.muted;
  try {
    await video.play();
    if (!isSilent) onSound(true);
  } catch (error) {
    if ((error as Error).name !== 'NotAllowedError') return;
    if (!isSilent) onSound(false);
    video.muted = true;
    await video.play().catch(() => {});
  }
}

/** Layer that plays a video in one of the two elements. */
export class VideoLayer implements Layer {
  readonly element: HTMLVideoElement;
  readonly usesDecoder = true;
  readonly isPage = false;
  readonly ready: Promise<PlaybackFailure | undefined>;
  readonly failed: Promise<PlaybackFailure>;
  readonly #pool: VideoPool;
  readonly #source: MediaSource;
  readonly #onSound: (isAllowed: boolean) => void;
  readonly #error: Promise<PlaybackFailure>;
  readonly #disposed = new AbortController();
  /** Aborts when the layer is disposed. */
  readonly signal = this.#disposed.signal;
  #stall = (_reason: PlaybackFailure) => {};
  #watch: number | undefined;

  constructor(
    pool: VideoPool,
    element: HTMLVideoElement,
    source: MediaSource,
    hasSound: boolean,
    onSound: (isAllowed: boolean) => void,
  ) {
    this.element = element;
    this.#onSound = onSound;
    this.#pool = pool;
    this.#source = source;
    element.muted = !hasSound;
    const { signal } = this.#disposed;
    this.#error = nextEvent(element, 'error', signal).then(() => failureOf(element, source));
    const stalled = new Promise<PlaybackFailure>((resolve) => {
      this.#stall = resolve;
    });
    this.failed = Promise.race([this.#error, stalled]);
    const loaded = nextEvent(element, 'loadeddata', signal).then(() => undefined);
    this.ready = Promise.race([loaded, this.#error]);
    element.src = source.src;
    element.load();
  }

  async start(forMs: number): Promise<PlaybackFailure | undefined> {
    const { element } = this;
    const endsAtMs = performance.now() + forMs;
    const repeat = () => {
      if (endsAtMs - performance.now() <= standStillMs) return;
      element.currentTime = 0;
      void play(element, this.#onSound);
    };
    element.addEventListener('ended', repeat);
    this.#disposed.signal.addEventListener('abort', () =>
      element.removeEventListener('ended', repeat),
    );
    const picture = nextPicture(element, this.#disposed.signal).then(() => undefined);
    void play(element, this.#onSound);
    this.#watchProgress();
    return Promise.race([picture, this.failed]);
  }

  /** Reports a stall if the video makes no progress although it should play. */
  #watchProgress(): void {
    const { element } = this;
    let seconds = -1;
    let movedAtMs = performance.now();
    this.#watch = window.setInterval(() => {
      const isMoving = element.currentTime !== seconds || element.ended;
      if (isMoving) movedAtMs = performance.now();
      seconds = element.currentTime;
      if (performance.now() - movedAtMs > stallMs) this.#stall('stalled');
    }, checkMs);
  }

  dispose(): void {
    const { element } = this;
    this.#disposed.abort();
    window.clearInterval(this.#watch);
    element.pause();
    element.removeAttribute('src');
    // Frees the decoder.
    element.load();
    element.classList.remove('visible');
    this.#source.release();
    this.#pool.giveBack(element);
  }
}
