import type { ManagementClient } from '../../client/management-client.ts';
import { pause } from '../../client/pause.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { groupedCode } from '../../domain/records/typed-code.ts';
import type { Simulation } from './simulated-tvs.ts';

/** The demo, and a client for the tenant that has its screens. */
export interface Demo extends Simulation {
  management: ManagementClient;
}

/** A code for a TV in a browser. */
export interface BrowserOffer {
  screenId: string;
  code: string;
}

/**
 * Creates a code for a screen, and prints how to use it in a browser. `start` precedes the text.
 */
export async function offerCode(
  demo: Demo,
  screenId: string,
  start: string,
): Promise<BrowserOffer> {
  const { management, url, io, interrupted: signal } = demo;
  const made = await management.call('createCode', { body: { screenId }, signal });
  const { code, expiresInSeconds } = made;
  const minutes = Math.floor((expiresInSeconds * secondMs) / minuteMs);
  io.stdout.write(
    `${start}Open ${url}/player in a browser and type ${groupedCode(code)} within ${minutes} minutes.\n`,
  );
  return { screenId, code };
}

/** How often the demo looks whether a browser has used its code. */
const lookEveryMs = secondMs;

/**
 * Waits until a browser has used the code, and replaces the code whenever it has expired. Returns
 * whether a browser did; not if the code was cancelled or the demo ended.
 */
export async function awaitBrowser(demo: Demo, first: BrowserOffer): Promise<boolean> {
  const { management, clock, log, interrupted: signal } = demo;
  let { screenId, code } = first;
  try {
    for (;;) {
      await pause(clock, lookEveryMs, signal);
      if (signal.aborted) return false;
      const { status } = await management.call('getCodeStatus', { params: { code }, signal });
      if (status === 'expired')
        ({ code } = await offerCode(demo, screenId, 'The code has expired. '));
      else if (status !== 'pending') return status === 'used';
    }
  } catch (err) {
    if (!signal.aborted)
      log.warn({ err }, `No new code for a browser. To get one: signage code create ${screenId}`);
    return false;
  }
}
