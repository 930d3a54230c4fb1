import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../src/domain/clock.ts';
import { type LogSink, silentLog } from '../../../src/domain/log.ts';
import { makeApp } from '../../../src/http/app.ts';
import { makeMetrics } from '../../../src/http/metrics/metrics.ts';
import type { Bindings } from '../../../src/http/request/request-context.ts';
import { Examiner } from '../../../src/media/examination/examiner.ts';
import { makeTemporaryMediaStore } from '../../../src/media/open-media-store.ts';
import { makeCallableAddresses } from '../../../src/network/callable-address.ts';
import { makeWebhookSender } from '../../../src/network/webhook-sender.ts';
import { makeChain, makeStoredOrigin } from '../../../src/origin/chain/origins.ts';
import type { PlaylistOrigin } from '../../../src/origin/origin.ts';
import { RenderedItems } from '../../../src/origin/rendered-playlists.ts';
import { bootstrap } from '../../../src/service/assembly/bootstrap.ts';
import { makeServices, type ServiceOptions } from '../../../src/service/assembly/services.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { adminToken, manager, recordMaker } from './management.ts';
import { type Sent, sendTo } from './service.ts';

/** The default connection. */
const local: Bindings = { peer: { socket: { remoteAddress: '127.0.0.1' }, headers: {} } };

export interface Parts<C extends Clock> {
  store: Store;
  clock?: C;
  origins?: readonly PlaylistOrigin[];
  /** Replaces `origins` by a complete chain. */
  whole?: Pick<ServiceOptions, 'origins' | 'served'>;
  log?: LogSink;
}

/**
 * Builds the service without its listener, on the given store and origins, for failures that cannot
 * be provoked from outside.
 */
export async function mounted<C extends Clock = ManualClock>({
  store,
  clock = new ManualClock() as Clock as C,
  log = silentLog,
  origins = [makeStoredOrigin((id) => store.read.get('playlists', id), clock)],
  whole = {
    origins: {
      ask: makeChain(
        origins.map((origin) => ({ origin })),
        new RenderedItems((id) => store.read.get('contents', id)),
        clock,
        log,
      ),
      reader: store.read,
      health: () => [],
    },
  },
}: Parts<C>) {
  const services = makeServices({
    store,
    clock,
    random: randomBytes,
    ...whole,
    media: {
      files: makeTemporaryMediaStore(),
      examiner: new Examiner(),
      limitBytes: 1024 ** 2,
      quotaBytes: 1024 ** 3,
    },
    playlistQuotaBytes: 1024 ** 3,
    statements: { readKey: undefined, retentionDays: 90 },
    webhookSender: makeWebhookSender({ addresses: makeCallableAddresses([]), clock }),
    codeTtlMinutes: 15,
    log,
  });
  await bootstrap(services.deps, { adminToken });
  const app = makeApp({
    services,
    clock,
    newId: services.deps.newId,
    log,
    metrics: makeMetrics('0.0.0'),
    version: '0.0.0',
    compression: false,
    player: false,
    corsOrigins: [],
    trustedProxies: [],
    stopping: new AbortController().signal,
  });

  const fetch = (request: Request, bindings = local) => app.fetch(request, bindings);

  const send = (method: string, path: string, sent: Sent = {}) =>
    sendTo('http://mounted', method, path, sent, fetch);

  const management = manager({ send });
  const manage = async (method: string, path: string, body?: unknown) =>
    (await management.send(method, path, { body })).body;

  const { screen, code } = recordMaker(() => management);
  /** Creates a bound TV. */
  const tv = async () => management.tv((await screen()).id);

  return { services, clock, fetch, send, manage, code, tv };
}
