import type { PlaybackFailure } from '../../player/stage.ts';

/**
 * One item on the glass. Its element is in the document from the beginning, and hidden until the
 * stage reveals it.
 */
export interface Layer {
  readonly element: HTMLElement;
  /** Resolves once the first picture is decoded, or with the reason why it cannot be. */
  readonly ready: Promise<PlaybackFailure | undefined>;
  /** Begins to play for this time. Resolves once a picture can be painted. */
  start(forMs: number): Promise<PlaybackFailure | undefined>;
  /** Resolves if playing fails later. */
  readonly failed: Promise<PlaybackFailure>;
  /** Whether the layer occupies a video decoder. */
  readonly usesDecoder: boolean;
  /** Removes the element and frees what it loaded. */
  dispose(): void;
}

/** Resolves with the next event of this type. Stops listening when the signal aborts. */
export function nextEvent(target: EventTarget, type: string, signal?: AbortSignal): Promise<Event> {
  return new Promise((resolve) => {
    target.addEventListener(type, resolve, { once: true });
    signal?.addEventListener('abort', () => target.removeEventListener(type, resolve));
  });
}
