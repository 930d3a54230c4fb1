import type { PlaybackFailure } from '../../player/stage.ts';
import { never } from '../settings/timing.ts';
import { type Layer, nextEvent } from './layer.ts';

/**
 * Checks whether a host answers. Returns the reason of a failure. A page of another origin cannot
 * be inspected, and the browser's own error page would count as loaded.
 */
async function probe(url: string): Promise<PlaybackFailure | undefined> {
  try {
    const mode = new URL(url).origin === location.origin ? 'same-origin' : 'no-cors';
    const { status, type } = await fetch(url, { method: 'HEAD', mode, credentials: 'omit' });
    const isRefused = type !== 'opaque' && status >= 400 && status !== 405 && status !== 501;
    return isRefused ? `http_${status}` : undefined;
  } catch {
    return 'unreachable';
  }
}

async function load(frame: HTMLIFrameElement, url: string) {
  const failure = await probe(url);
  if (failure || !frame.isConnected) return failure ?? 'stalled';
  const loaded = nextEvent(frame, 'load');
  frame.src = url;
  await loaded;
  return undefined;
}

/**
 * Returns a layer that shows a web page. The page gets an opaque origin: browsers then run it in
 * another process, so that it cannot freeze the player. With `storage`, a page of another origin
 * keeps its origin. It cannot reach the device key by a redirect to the service, because only the
 * page of the player is served without a sandbox.
 */
export function makePageLayer(parent: HTMLElement, url: string, storage: boolean): Layer {
  const element = document.createElement('iframe');
  const keepsOrigin = storage && new URL(url).origin !== location.origin;
  element.className = 'layer';
  element.setAttribute('sandbox', `allow-scripts${keepsOrigin ? ' allow-same-origin' : ''}`);
  element.setAttribute('referrerpolicy', 'no-referrer');
  element.setAttribute('allow', 'autoplay');
  parent.append(element);
  return {
    element,
    ready: load(element, url),
    start: async () => undefined,
    failed: never,
    usesDecoder: false,
    isPage: true,
    dispose: () => element.remove(),
  };
}
