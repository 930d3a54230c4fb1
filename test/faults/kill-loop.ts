import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../src/client/management-client.ts';
import { checkAcknowledged, sendLostAgain } from './check-acknowledged.ts';
import { load, nothingYet } from './kill-load.ts';
import { startService } from './killed-service.ts';

const token = `mak_${'KillLoop'.repeat(4)}`;

/** What a run has seen. */
export interface KillReport {
  kills: number;
  screens: number;
  bound: number;
  revoked: number;
  events: number;
  /** Each acknowledged thing that was not there again; empty when all is well. */
  missing: string[];
}

/**
 * Starts the service on a folder, puts load on it, kills it at a random moment, starts it again and compares what was acknowledged with what
 * is there; `kills` times, on the same folder.
 */
export async function killLoop(data: string, kills: number): Promise<KillReport> {
  const seen = nothingYet();
  let service = await startService(data, token);
  const venue = await new ManagementClient({ url: service.url, token }).call('createVenue', { body: { name: 'Kill test' } });
  const missing: string[] = [];
  for (let kill = 0; kill < kills && missing.length === 0; kill++) {
    const working = load(service.url, token, venue.id, seen);
    await sleep(randomInt(50, 500));
    await service.kill();
    await working;
    service = await startService(data, token);
    await sendLostAgain(service, seen);
    if (kill % 10 === 9 || kill === kills - 1) missing.push(...(await checkAcknowledged({ url: service.url, token }, seen)));
  }
  const exitCode = await service.stop();
  if (exitCode !== 0) missing.push(`the last service ended with ${exitCode}`);
  const events = [...seen.events.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  return { kills, screens: seen.screens.size, bound: seen.keys.size, revoked: seen.revoked.size, events, missing };
}
