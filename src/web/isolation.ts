import { secondMs } from '../domain/clock.ts';
import { after } from './settings/timing.ts';

const busyMs = 300;
const tickMs = 20;
/** Below it, a timer of the page has run while the frame was blocked. */
const frozenMs = busyMs - tickMs;
/** A page that is busy with its own work looks once as if a frame froze it, hardly three times. */
const maxTries = 3;

/** Maximum wait for a frame that may never answer. */
const limitMs = 5 * secondMs;

/** Resolves with `undefined` if the frame does not answer in time, as without a network. */
export const inTime = (isolated: Promise<boolean>): Promise<boolean | undefined> =>
  Promise.race([isolated, after(limitMs).then(() => undefined)]);

/**
 * The part of the player's script that runs in the frame: blocks its own thread after each message,
 * and says when it is ready for the next one.
 */
export function blockThread(): void {
  const sayReady = () => parent.postMessage('', '*');
  window.addEventListener('message', () => {
    const untilMs = performance.now() + busyMs;
    while (performance.now() < untilMs);
    sayReady();
  });
  sayReady();
}

/**
 * Returns whether timers of the player run while a sandboxed frame is blocked. Never resolves
 * without an answer of the frame.
 */
export function isolatesPages(scriptUrl: string): Promise<boolean> {
  const frame = document.createElement('iframe');
  const isolated = new Promise<boolean>((resolve) => {
    let tries = 0;
    let timer: number | undefined;
    let lastMs = 0;
    /** Whether no timer of the page has run for as long as the frame blocks. */
    let isFrozen = true;
    const tick = () => {
      const nowMs = performance.now();
      if (nowMs - lastMs >= frozenMs) isFrozen = true;
      lastMs = nowMs;
    };
    window.addEventListener('message', ({ source }) => {
      if (!source || source !== frame.contentWindow) return;
      tick();
      clearInterval(timer);
      if (isFrozen && tries++ < maxTries) {
        isFrozen = false;
        timer = window.setInterval(tick, tickMs);
        (source as Window).postMessage('', '*');
      } else {
        frame.remove();
        resolve(!isFrozen);
      }
    });
  });
  frame.hidden = true;
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.srcdoc = `<script src="${scriptUrl}"></script>`;
  document.body.append(frame);
  return isolated;
}
