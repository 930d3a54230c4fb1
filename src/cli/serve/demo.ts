import { ManagementClient } from '../../client/management-client.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Context } from '../command/environment.ts';
import { printDemoEvents } from './demo-events.ts';
import { type DemoTv, type Pairing, pairDemoTvs } from './demo-tvs.ts';

const tvCount = 3;

interface Demo extends Context {
  url: string;
  token: string | undefined;
  log: LogSink;
  /** Ends the demonstration. */
  signal: AbortSignal;
}

/** The clients of the demonstration, in the oldest tenant: that is where its screens are. */
async function connect({ url, token = '', clock, random, signal, log }: Demo): Promise<Pairing> {
  const shared = { url, clock, random };
  const { items } = await new ManagementClient({ ...shared, token }).call('listTenants', {
    query: { limit: 1 },
    signal,
  });
  const management = new ManagementClient({ ...shared, token, tenantId: items[0]?.id });
  const onFailure = (place: string, err: unknown) =>
    log.warn({ err }, `The simulated TV of ${place} has trouble.`);
  return { management, runtime: new RuntimeClient(shared), clock, random, signal, onFailure };
}

function announce({ io }: Demo, tvs: readonly DemoTv[]): void {
  const how = (tv: DemoTv) =>
    tv.again ? 'paired again, in place of the TV of the last run' : 'paired';
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
    `The simulated TV of ${place} has lost its screen, and stops. A new start of the demonstration pairs it again.`,
  );
}

async function run(demo: Demo): Promise<void> {
  if (demo.token === undefined) {
    demo.log.warn(
      {},
      'No simulated TVs: they need the platform token, which was shown at the first start. Set SIGNAGE_ADMIN_TOKEN to it.',
    );
    return;
  }
  const pairing = await connect(demo);
  const tvs = await pairDemoTvs(pairing, tvCount);
  if (tvs.length === 0) {
    demo.log.warn(
      {},
      'No simulated TVs: this store has no free screens of the demonstration, which fills empty stores only.',
    );
    return;
  }
  announce(demo, tvs);
  await Promise.all([
    printDemoEvents(pairing, demo, tvs),
    ...tvs.map((tv) => keepPlaying(demo, tv)),
  ]);
}

/** Shows the service at work: a few simulated TVs play, and each event that arrives is a line on `stdout`. Ends with the signal; never throws. */
export async function runDemo(demo: Demo): Promise<void> {
  try {
    await run(demo);
  } catch (err) {
    if (!demo.signal.aborted) demo.log.warn({ err }, 'No simulated TVs: they could not be paired.');
  }
}
