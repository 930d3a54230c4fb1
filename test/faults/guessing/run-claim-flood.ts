// Floods of claims, which must not stop the TVs of others (docs/protocol.md §3.6).
import { serve } from '../../../src/serve.ts';
import { adminToken, manager } from '../../support/service/management.ts';
import { type Sent, sendTo } from '../../support/service/service.ts';

/** Result of a run: the claims that were made, of those asked for. */
interface FloodTotals {
  /** Of 2,000 IPv4 addresses without a credential, six each. */
  unknown: number;
  /** Of a stranger with a key, from 40 addresses in each of 100 IPv6 /48s. */
  stranger: number;
  /** Of 200 addresses that ask for the first time, and of a shop. Both are full. */
  first: number;
  shop: number;
}

export async function runClaimFlood(): Promise<FloodTotals> {
  const { fetch, close } = await serve({ port: 0, store: 'memory:', adminToken });
  const send = (address: string, method: string, path: string, sent: Sent) =>
    sendTo('http://localhost', method, path, sent, (request) =>
      fetch(request, { remoteAddress: address }),
    );
  const claims = async (count: number, addressOf: (n: number) => string) => {
    let made = 0;
    for (let n = 0; n < count; n++) {
      const sent = { body: { deviceInfo: {} } };
      const { status } = await send(addressOf(n), 'POST', '/devices/claims', sent);
      if (status === 201) made++;
    }
    return made;
  };
  const anywhere = {
    send: (method: string, path: string, sent: Sent = {}) => send('192.0.2.1', method, path, sent),
  };
  const platform = manager(anywhere);
  const shop = await platform.as('installer');
  const stranger = await platform.in((await platform.tenant('Strangers')).id).as('viewer');

  const unknown = await claims(12_000, (n) => `198.${51 + (n % 8)}.${(n >> 3) % 250}.1`);
  const lineOf = (n: number) => `2001:db8:${n % 100}:${n}::1`;
  for (let n = 0; n < 4000; n++) await send(lineOf(n), 'GET', '/v1/me', { key: stranger.token });
  const strangers = await claims(4000, lineOf);
  const first = await claims(200, (n) => `203.0.113.${n}`);
  await send('192.0.2.7', 'GET', '/v1/me', { key: shop.token });
  const ofShop = await claims(50, () => '192.0.2.7');
  await close();
  return { unknown, stranger: strangers, first, shop: ofShop };
}
