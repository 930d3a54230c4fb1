import { describe, expect, it } from 'vitest';
import { DeviceClient } from '../../src/client/device-client.ts';
import { makeFetchRequester } from '../../src/client/fetch-requester.ts';
import {
  hangUp,
  json,
  problem,
  raw,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';

const config = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1, cachePolicy: {} };
let stub: StubService;

const clientOf = ({ url }: StubService) =>
  new DeviceClient({
    url,
    apiKey: 'dak_key',
    makeRequester: makeFetchRequester,
    retry: { attempts: 1 },
  });

describe('A client over fetch', () => {
  it('sends the key and the ETag, and reads bodies and headers', async () => {
    stub = await stubService(
      json(200, config, { etag: '"1"', 'x-config-source': 'venue' }),
      raw(304, '', { etag: '"1"' }),
    );
    const client = clientOf(stub);
    expect(await client.fetchConfig('screen')).toMatchObject({
      answer: config,
      etag: '"1"',
      source: 'venue',
    });
    expect(await client.fetchConfig('screen', { etag: '"1"' })).toMatchObject({
      answer: undefined,
    });
    expect(stub.heard[1]?.headers).toMatchObject({
      authorization: 'Bearer dak_key',
      'if-none-match': '"1"',
    });
  });

  it('sends events as JSON with their Idempotency-Key', async () => {
    stub = await stubService(json(202, { received: 1 }));
    const events = [{ type: 'log', timestamp: 1 }];
    expect(await clientOf(stub).postEvents('screen', events, { idempotencyKey: 'one' })).toBe(1);
    expect(stub.heard[0]).toMatchObject({
      body: JSON.stringify(events),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'one' },
    });
  });

  it('throws the errors of the service', async () => {
    stub = await stubService(problem(401, 'device_key_revoked', 'Gone.'));
    await expect(clientOf(stub).fetchConfig('screen')).rejects.toMatchObject({
      code: 'device_key_revoked',
      status: 401,
    });
  });

  it('throws `unreachable` without a response, and `interrupted` when aborted', async () => {
    stub = await stubService(hangUp, () => {});
    const client = clientOf(stub);
    await expect(client.fetchConfig('screen')).rejects.toMatchObject({ code: 'unreachable' });
    const abort = new AbortController();
    const call = client.fetchConfig('screen', { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('follows no redirect, which could send the key to another host', async () => {
    const other = await stubService(json(200, config));
    stub = await stubService(raw(302, '', { location: `${other.url}/devices/screen/config` }));
    await expect(clientOf(stub).fetchConfig('screen')).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(other.heard).toEqual([]);
  });
});
