import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { type ListenerOptions, listen } from '../../../src/http/listener/listener.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { mounted } from '../../support/mounted.ts';
import type { Pass } from '../../support/planted-bugs.ts';
import { overriding } from '../../support/planted-store.ts';
import { adminToken } from '../../support/service.ts';
import type { Aim } from './attack.ts';

/** What is put around the service; the service is as it is where nothing is. */
export interface Around {
  limits?: ListenerOptions['limits'];
  admit?: ListenerOptions['admit'];
  store?(store: Store): Partial<Store>;
  front?(pass: Pass): Pass;
  /** Stands between the clients and the listener; answers its own URL. */
  network?(url: string): Promise<{ url: string; close(): Promise<void> }>;
}

/**
 * Has something done with a service of its own in memory, on the real listener, that has one bound
 * TV.
 */
export async function fronted<T>(
  { limits, admit, store, front, network }: Around,
  work: (url: string, aim: Aim) => Promise<T>,
): Promise<T> {
  const memory = await openStore('memory:');
  const service = await mounted<Clock>({
    store: overriding(memory, store?.(memory) ?? {}),
    clock: systemClock,
  });
  const { screenId, apiKey } = await service.tv();
  const fetch = front?.(async (request) => service.fetch(request)) ?? service.fetch;
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
