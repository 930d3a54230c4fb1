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
  expiresInSeconds: number;
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
  return { screenId, code, expiresInSeconds };
}

/** Replaces the code for a browser whenever it has expired. Ends when it was used or cancelled. */
export async function renewOffer(demo: Demo, first: BrowserOffer): Promise<void> {
  const { management, clock, log, interrupted: signal } = demo;
  let { screenId, code, expiresInSeconds } = first;
  try {
    for (;;) {
      await pause(clock, (expiresInSeconds + 1) * secondMs, signal);
      if (signal.aborted) return;
      const input = { params: { code }, signal };
      const { status } = await management.call('getCodeStatus', input);
      if (status !== 'expired') return;
      ({ code, expiresInSeconds } = await offerCode(demo, screenId, 'The code has expired. '));
    }
  } catch (err) {
    if (!signal.aborted)
      log.warn({ err }, `No new code for a browser. To get one: signage code create ${screenId}`);
  }
}
