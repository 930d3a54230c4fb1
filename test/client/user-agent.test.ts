import { expect, it } from 'vitest';
import { ManagementClient } from '../../src/client/management-client.ts';
import { makeNodeRequester } from '../../src/client/node-requester.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { makeWebhookSender } from '../../src/network/webhook-sender.ts';
import { onDemandHttp } from '../../src/origin/on-demand/http.ts';
import { json, stubService } from '../support/network/stub-service.ts';

const clock = systemClock;

it('all clients name this program', async () => {
  const stub = await stubService(json(200, { items: [], nextCursor: null }));
  for (const more of [{}, { makeRequester: makeNodeRequester }])
    await new ManagementClient({ url: stub.url, token: 'mak_x', ...more }).call('listVenues');
  const addresses = { checkUrl() {}, checkAddress() {} };
  await makeWebhookSender({ addresses, clock }).send(new URL(stub.url), {
    headers: {},
    body: Buffer.from('{}'),
    signal: AbortSignal.timeout(5000),
  } as never);
  const source = onDemandHttp({
    url: `${stub.url}/{screenId}`,
    connections: 1,
    connectTimeoutMs: 5000,
    clock,
  });
  await source
    .ask({ id: 'x', tenantId: 'y', labels: {} } as never, AbortSignal.timeout(5000))
    .catch(() => {});
  await source.close();
  expect(stub.heard).toHaveLength(4);
  for (const { headers } of stub.heard)
    expect(headers['user-agent']).toMatch(/^signage\/\d+\.\d+\.\d+ \(\+node\)$/);
});
