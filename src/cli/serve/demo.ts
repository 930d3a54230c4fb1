import { ManagementClient } from '../../client/management-client.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Environment } from '../command/environment.ts';
import { printDemoEvents } from './demo-events.ts';
import { type DemoTv, type Pairing, pairDemoTvs } from './demo-tvs.ts';

const tvCount = 3;

interface Demo extends Environment {
  url: string;
  token: string | undefined;
  log: LogSink;
  /** Ends the demo. */
  signal: AbortSignal;
}

/** Makes the clients of the demo, for the oldest tenant, which has its screens. */
async function connect({ url, token = '', clock, random, signal, log }: Demo): Promise<Pairing> {
  const shared = { url, clock, random };
  const { items } = await new ManagementClient({ ...shared, token }).call('listTenants', {
    query: { limit: 1 },
    signal,
  });
  const management = new ManagementClient({ ...shared, token, tenantId: items[0]?.id });
  const onFailure = (place: string, err: unknown) =>
    log.warn({ err }, `The simulated TV of ${place} had an error.`);
  return { management, runtime: new RuntimeClient(shared), clock, random, signal, onFailure };
}

function announce({ io }: Demo, tvs: readonly DemoTv[]): void {
  const how = (tv: DemoTv) =>
    tv.isReplacement ? 'paired again, replacing the TV of the last run' : 'paired';
  io.stdout.write(
    `Simulated TVs, playing until the service stops:\n${tvs.map((tv) => `  ${tv.place}: ${how(tv)}\n`).join('')}\n`,
  );
  io.stdout.write('Events as they arrive (GET /v1/events):\n');
}

async function keepPlaying({ signal, log }: Demo, { place, player }: DemoTv): Promise<void> {
  const { reason, error } = await player.run(signal);
  if (reason !== 'unpaired') return;
  log.info(
    { err: error },
    `The simulated TV of ${place} was unpaired and stops. The next start of the demo pairs it again.`,
  );
}

async function run(demo: Demo): Promise<void> {
  if (demo.token === undefined) {
    demo.log.warn(
      {},
      'No simulated TVs: they need the platform token, which the first start printed. Set SIGNAGE_ADMIN_TOKEN to it.',
    );
    return;
  }
  const pairing = await connect(demo);
  const tvs = await pairDemoTvs(pairing, tvCount);
  if (tvs.length === 0) {
    demo.log.warn(
      {},
      'No simulated TVs: this store has no free screens of the demo, which fills only empty stores.',
    );
    return;
  }
  announce(demo, tvs);
  await Promise.all([
    printDemoEvents(pairing, demo, tvs),
    ...tvs.map((tv) => keepPlaying(demo, tv)),
  ]);
}

/**
 * Runs a few simulated TVs, and prints each event that arrives to `stdout`, until the signal
 * aborts. Never throws.
 */
export async function runDemo(demo: Demo): Promise<void> {
  try {
    await run(demo);
  } catch (err) {
    if (!demo.signal.aborted) demo.log.warn({ err }, 'No simulated TVs: they could not be paired.');
  }
}
