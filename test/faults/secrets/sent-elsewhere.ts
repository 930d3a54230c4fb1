import { ManagementClient } from '../../../src/client/management-client.ts';
import { makeNodeRequester } from '../../../src/client/node-requester.ts';
import type { MakeRequester } from '../../../src/client/requester.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { json, raw, stubService } from '../../support/network/stub-service.ts';
import { unknownId } from '../../support/service/management.ts';

const requesters: MakeRequester[] = [
  async (certificates) => makeUndiciRequester(certificates),
  makeNodeRequester,
];

/** Returns the requests of clients to another address after a redirect. There must be none. */
export async function sentElsewhere(
  around: (make: MakeRequester) => MakeRequester = (make) => make,
): Promise<string[]> {
  const elsewhere = await stubService(json(200, {}));
  const found: string[] = [];
  for (const status of [301, 302, 303, 307, 308]) {
    const here = await stubService(raw(status, '', { location: `${elsewhere.url}/taken` }));
    for (const make of requesters) {
      const options = { url: here.url, makeRequester: around(make), retry: { attempts: 1 } };
      const management = new ManagementClient({ ...options, token: 'mak_canary' });
      const runtime = new RuntimeClient({ ...options, apiKey: 'dak_canary' });
      const calls = [
        () => management.call('getMe'),
        () => management.call('createVenue', { body: { name: 'Lobby' } }),
        () => runtime.fetchPlaylist(unknownId),
        () => runtime.register({ pairingCode: 'ABCD2345', deviceInfo: {} }),
      ];
      for (const call of calls) await call().catch(() => undefined);
    }
    await here.close();
    found.push(
      ...elsewhere.heard
        .splice(0)
        .map(
          ({ method, headers, body }) => `${status}: ${method} ${headers.authorization} ${body}`,
        ),
    );
  }
  await elsewhere.close();
  return found;
}
