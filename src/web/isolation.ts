import { secondMs } from '../domain/clock.ts';
import { after } from './settings/timing.ts';

const busyMs = 300;
const tickMs = 20;
/** Minimum number of ticks of the player while a frame is blocked. In one thread, there is one. */
const minTicks = 3;

/** Maximum wait for a frame that may never answer. */
const limitMs = 5 * secondMs;

/** Resolves with `undefined` if the frame does not answer in time, as without a network. */
export const inTime = (isolated: Promise<boolean>): Promise<boolean | undefined> =>
  Promise.race([isolated, after(limitMs).then(() => undefined)]);

/** The part of the player's script that runs in the frame: blocks its own thread. */
export function blockThread(): void {
  parent.postMessage('blocked', '*');
  // Chromium sends a message after the task.
  setTimeout(() => {
    const untilMs = performance.now() + busyMs;
    while (performance.now() < untilMs);
    parent.postMessage('free', '*');
  }, tickMs);
}

/**
 * Returns whether a timer of the player runs while a sandboxed frame is blocked. Never resolves
 * without an answer of the frame.
 */
export function isolatesPages(scriptUrl: string): Promise<boolean> {
  const frame = document.createElement('iframe');
  let ticks = 0;
  let timer: number;
  const isolated = new Promise<boolean>((resolve) => {
    window.addEventListener('message', ({ source, data }) => {
      if (source !== frame.contentWindow) return;
      if (data === 'blocked') timer = window.setInterval(() => ticks++, tickMs);
      else {
        clearInterval(timer);
        frame.remove();
        resolve(ticks >= minTicks);
      }
    });
  });
  frame.hidden = true;
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.srcdoc = `<script src="${scriptUrl}"></script>`;
  document.body.append(frame);
  return isolated;
}
