import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { type ListenerOptions, listen } from '../../../src/http/listener/listener.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { mounted } from '../../support/mounted.ts';
import type { Handler } from '../../support/seeded-defects.ts';
import { adminToken } from '../../support/service.ts';
import type { Aim } from './attack.ts';

/** Wrappers around the service. Default: none. */
export interface Around {
  limits?: ListenerOptions['limits'];
  admit?: ListenerOptions['admit'];
  store?(store: Store): Partial<Store>;
  middleware?(next: Handler): Handler;
  /** Wraps the network between clients and listener. Returns its URL. */
  network?(url: string): Promise<{ url: string; close(): Promise<void> }>;
}

/** Runs `work` with a service in memory on the real listener, with one bound TV. */
export async function fronted<T>(
  { limits, admit, store, middleware, network }: Around,
  work: (url: string, aim: Aim) => Promise<T>,
): Promise<T> {
  const memory = await openStore('memory:');
  const service = await mounted<Clock>({
    store: decorateStore(memory, store?.(memory) ?? {}),
    clock: systemClock,
  });
  const { screenId, apiKey } = await service.tv();
  const fetch = middleware?.(async (request) => service.fetch(request)) ?? service.fetch;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch,
    onError: () => {},
    admit,
    ...(limits && { limits }),
  });
  const before = await network?.(listener.url);
  const url = before?.url ?? listener.url;
  try {
    return await work(url, { host: new URL(url).host, token: adminToken, key: apiKey, screenId });
  } finally {
    await before?.close();
    await listener.close();
    await memory.close();
  }
}
