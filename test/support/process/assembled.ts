import type { LogSink } from '../../../src/domain/log.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { mounted } from '../service/mounted.ts';
import { sendTo, type TestService } from '../service/service.ts';
import { withLedger } from '../stores/ledger-store.ts';
import type { Defect, Handler } from '../stores/seeded-defects.ts';

/** Builds the service on this store, with this defect. Default: none. */
export async function assembled(
  store: Store,
  clock: ManualClock,
  defect: Defect = {},
  log?: LogSink,
) {
  const ledger = withLedger(store);
  const service = await mounted({
    store: decorateStore(ledger.store, defect.store?.(ledger.store) ?? {}),
    clock,
    ...(log && { log }),
  });
  const next: Handler = async (request) => service.fetch(request);
  const fetch = defect.middleware?.(next, ledger.store) ?? next;
  const send: TestService['send'] = (method, path, sent = {}) =>
    sendTo('http://assembled', method, path, sent, fetch);
  const register: TestService['register'] = (code, { deviceInfo = {}, ...sent } = {}) =>
    send('POST', '/devices/register', { body: { pairingCode: code, deviceInfo }, ...sent });
  // `changes`: the committed ones, in order.
  return { fetch, send, register, clock, changes: ledger.changes };
}

/** A service without its listener, and the record of its changes. */
export type Assembled = Awaited<ReturnType<typeof assembled>>;
