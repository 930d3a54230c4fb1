import type { PlaybackFailure } from '../../player/stage.ts';

/**
 * One item on the stage. Its element is in the document from the beginning. The element is hidden
 * until the stage reveals it.
 */
export interface Layer {
  readonly element: HTMLElement;
  /** Resolves once the first frame is decoded, or with the reason why decoding failed. */
  readonly ready: Promise<PlaybackFailure | undefined>;
  /**
   * Begins to play for `forMs`. Resolves once a frame can be painted, or with the reason of a
   * failure.
   */
  start(forMs: number): Promise<PlaybackFailure | undefined>;
  /** Resolves with the reason if playing fails later. */
  readonly failed: Promise<PlaybackFailure>;
  /** Whether the layer occupies a video decoder. */
  readonly usesDecoder: boolean;
  /** Whether the layer shows a web page, whose process other pages may share. */
  readonly isPage: boolean;
  /**
   * Hides the layer, and frees its resources. Removes the element, or returns it to the video pool.
   */
  dispose(): void;
}

/** Resolves with the next event of this type. Stops listening when the signal aborts. */
export function nextEvent(target: EventTarget, type: string, signal?: AbortSignal): Promise<Event> {
  return new Promise((resolve) => {
    target.addEventListener(type, resolve, { once: true });
    signal?.addEventListener('abort', () => target.removeEventListener(type, resolve));
  });
}
