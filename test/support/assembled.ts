import type { LogSink } from '../../src/domain/log.ts';
import type { Store } from '../../src/store/store.ts';
import { type Change, withLedger } from './ledger-store.ts';
import type { ManualClock } from './manual-clock.ts';
import { mounted } from './mounted.ts';
import type { Bug, Pass } from './planted-bugs.ts';
import { overriding } from './planted-store.ts';
import type { Answer, Sent, TestService } from './service.ts';

/** A service with everything around it that a harness looks at. */
export interface Assembled {
  fetch: Pass;
  send: TestService['send'];
  register: TestService['register'];
  clock: ManualClock;
  /** What was changed so far, in order. */
  changes: Change[];
}

async function ask(
  fetch: Pass,
  method: string,
  path: string,
  { key, headers = {}, body }: Sent,
): Promise<Answer> {
  const all = new Headers(headers);
  if (key !== undefined) all.set('authorization', `Bearer ${key}`);
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  if (text !== null && !all.has('content-type')) all.set('content-type', 'application/json');
  const response = await fetch(
    new Request(`http://assembled${path}`, {
      method,
      headers: all,
      body: text && Buffer.from(text),
    }),
  );
  const answered = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '') && answered !== '';
  return {
    status: response.status,
    headers: response.headers,
    text: answered,
    body: isJson ? JSON.parse(answered) : undefined,
  };
}

/**
 * The service without its listener on this store, with a bug around it unless there is none, and a
 * ledger under both.
 */
export async function assembled(
  store: Store,
  clock: ManualClock,
  bug: Bug = {},
  log?: LogSink,
): Promise<Assembled> {
  const ledger = withLedger(store);
  const service = await mounted({
    store: overriding(ledger.store, bug.store?.(ledger.store) ?? {}),
    clock,
    ...(log && { log }),
  });
  const pass: Pass = async (request) => service.fetch(request);
  const fetch = bug.front?.(pass, ledger.store) ?? pass;
  const send: Assembled['send'] = (method, path, sent = {}) => ask(fetch, method, path, sent);
  const register: Assembled['register'] = (code, { deviceInfo = {}, ...sent } = {}) =>
    send('POST', '/devices/register', { body: { pairingCode: code, deviceInfo }, ...sent });
  return { fetch, send, register, clock, changes: ledger.changes };
}
