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

/** The part of the player's script that runs in the frame: blocks its own thread when asked to. */
export function blockThread(): void {
  window.addEventListener('message', () => {
    const untilMs = performance.now() + busyMs;
    while (performance.now() < untilMs);
    parent.postMessage('free', '*');
  });
  parent.postMessage('ready', '*');
}

/** Measures the longest time that no timer of this page runs, until it is ended. */
function watchTimers(): { end(): number } {
  let longestMs = 0;
  let lastMs = performance.now();
  const tick = () => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  const timer = setInterval(tick, tickMs);
  return {
    end() {
      tick();
      clearInterval(timer);
      return longestMs;
    },
  };
}

/**
 * Returns whether timers of the player run while a sandboxed frame is blocked. Never resolves
 * without an answer of the frame.
 */
export function isolatesPages(scriptUrl: string): Promise<boolean> {
  const frame = document.createElement('iframe');
  const isolated = new Promise<boolean>((resolve) => {
    let tries = 0;
    let timers: ReturnType<typeof watchTimers> | undefined;
    window.addEventListener('message', ({ source }) => {
      if (!frame.contentWindow || source !== frame.contentWindow) return;
      const isFrozen = timers === undefined || timers.end() >= frozenMs;
      if (isFrozen && tries++ < maxTries) {
        timers = watchTimers();
        frame.contentWindow.postMessage('block', '*');
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
