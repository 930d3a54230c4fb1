import type { Tally } from '../simulator/tally.ts';
import { connectionOptions } from './common-options.ts';
import { clientOptions, connect } from './connect.ts';
import type { Context, Flags } from './context.ts';
import { pairs, printable, printableJson } from './print.ts';
import { readProfile } from './profile.ts';
import { readSettings } from './settings.ts';
import { simulateSettings } from './simulate-settings.ts';

const partlyFailed = 9;
const progressEveryMs = 100;

/** One line that is written over and over, for whoever watches; nothing when nobody does. */
function makeProgress({ io, clock }: Context): { show(tally: Tally): void; end(): void } {
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (tally: Tally) => {
    const now = clock.now();
    if (!io.stderr.isTTY || now - shownAt < progressEveryMs) return;
    shownAt = now;
    io.stderr.write(`\r\u001b[K${tally.registered} of ${tally.tvs} TVs registered, ${tally.eventsAcknowledged} events acknowledged`);
  };
  return { show, end: () => void (shownAt > 0 && io.stderr.write('\r\u001b[K')) };
}

function summary(tally: Tally): string {
  const { playlistsFetched, playlistsUnchanged, playlistsMissing } = tally;
  const rows = pairs([
    ['TVs', `${tally.registered} of ${tally.tvs} registered`],
    ['Playlists', `${playlistsFetched} fetched, ${playlistsUnchanged} unchanged, ${playlistsMissing} missing`],
    ['Configs', `${tally.configsFetched} fetched`],
    ['Events', `${tally.eventsSent} sent, ${tally.eventsAcknowledged} acknowledged, ${tally.eventsFound} found again`],
    ['Failures', tally.failures.length === 0 ? 'none' : ''],
  ]);
  return rows + tally.failures.map(({ code, count, message }) => `  ${count} × ${printable(code)}: ${printable(message)}\n`).join('');
}

/** `signage simulate`: runs a fleet of simulated TVs against a service and prints the tally. */
export async function runSimulation(context: Context, flags: Flags): Promise<number> {
  const { io, interrupted } = context;
  const { count, venue, concurrency, batches, output } = readSettings(simulateSettings, flags, io.env);
  const profile = await readProfile(readSettings(connectionOptions, flags, {}), io);
  const { tenantId } = await connect(profile, context, false);
  const service = { ...(await clientOptions(profile, context, false)), tenantId };
  const { runFleet } = await import('../simulator/fleet.ts');
  const progress = makeProgress(context);
  const fleet = { ...service, count, venue, concurrency, batches };
  const tally = await runFleet({ ...fleet, signal: interrupted, onProgress: progress.show }).finally(progress.end);
  io.stdout.write(output === 'json' ? `${printableJson(tally)}\n` : summary(tally));
  if (interrupted.aborted) return Number(interrupted.reason);
  return tally.failures.length === 0 ? 0 : partlyFailed;
}
