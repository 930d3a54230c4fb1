import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { makeAddressOf } from '../../src/http/arrival.ts';
import { startService, type TestService } from '../support/service.ts';

const incoming = (remoteAddress: string | undefined, forwarded?: string | string[]) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('the address of a caller', () => {
  it.each<[string, string[], string | undefined, string | string[] | undefined, string | null]>([
    ['the socket’s', [], '198.51.100.1', undefined, '198.51.100.1'],
    ['the socket’s, whatever X-Forwarded-For says', [], '198.51.100.1', '203.0.113.7', '198.51.100.1'],
    ['the socket’s when that is no trusted proxy', ['10.0.0.1'], '198.51.100.1', '203.0.113.7', '198.51.100.1'],
    ['the socket’s, written plainly', [], '::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['the last of X-Forwarded-For behind a trusted proxy', ['10.0.0.1'], '10.0.0.1', '192.0.2.66, 203.0.113.7', '203.0.113.7'],
    ['the last that is no trusted proxy', ['10.0.0.1', '10.0.0.2'], '10.0.0.1', '192.0.2.66, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    [
      'the last, for a proxy that is not trusted comes between',
      ['10.0.0.1', '10.0.0.2'],
      '10.0.0.1',
      '203.0.113.7, 10.0.0.3, 10.0.0.2',
      '10.0.0.3',
    ],
    ['the proxy itself when it says nothing', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
    ['the proxy itself when all are proxies', ['10.0.0.1', '10.0.0.2'], '10.0.0.1', '10.0.0.2, 10.0.0.1', '10.0.0.1'],
    ['the proxy itself when what it says is no address', ['10.0.0.1'], '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
    ['the proxy itself when the header is empty', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
    ['an IPv6 address, in its short form', ['10.0.0.1'], '10.0.0.1', '2001:0DB8:0:0::0001', '2001:db8::1'],
    ['an IPv4-mapped address as IPv4', ['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
    ['a proxy named in another spelling', ['2001:0db8::00:1'], '2001:db8::1', '203.0.113.7', '203.0.113.7'],
    ['the header sent several times', ['10.0.0.1'], '10.0.0.1', ['192.0.2.66', '203.0.113.7'], '203.0.113.7'],
    ['not known without a socket', ['10.0.0.1'], undefined, '203.0.113.7', null],
  ])('is %s', (_, proxies, socket, forwarded, address) => {
    expect(makeAddressOf(proxies)(incoming(socket, forwarded))).toBe(address);
  });

  it('is not known to a mounted service', () => expect(makeAddressOf([])(undefined)).toBeNull());

  async function addresses(service: TestService, forwarded: string) {
    const headers = { 'x-forwarded-for': forwarded };
    const { code } = await service.code();
    const { deviceId, screenId, apiKey } = (await service.register(code, { headers })).body;
    await service.send('GET', `/devices/${screenId}/config`, { key: apiKey, headers });
    const audit = (await service.manage('GET', `/v1/audit?subjectId=${deviceId}`)).body.items[0];
    const device = (await service.manage('GET', `/v1/devices/${deviceId}`)).body;
    return [audit.address, device.lastAddress];
  }

  it('stands in the audit trail and on the device', async () => {
    const behind = await startService({ trustProxy: ['127.0.0.1', '10.0.0.2'] });
    expect(await addresses(behind, '192.0.2.66, 203.0.113.7, 10.0.0.2')).toEqual(['203.0.113.7', '203.0.113.7']);
    const open = await startService();
    expect(await addresses(open, '203.0.113.7')).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});
