import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeAddressOf } from '../../../src/http/request/client-address.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const incoming = (remoteAddress: string | undefined, forwarded?: string | string[]) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a caller', () => {
  it.each([
    ['the last entry', '192.0.2.66, 203.0.113.7', '203.0.113.7'],
    ['the last entry that is no trusted proxy', '192.0.2.66, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['another proxy that is not trusted', '203.0.113.7, 10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the proxy if all are proxies', '10.0.0.2, 10.0.0.1', '10.0.0.1'],
    ['the proxy if the entry is no address', '203.0.113.7, unknown', '10.0.0.1'],
    ['the proxy if the header is empty', '', '10.0.0.1'],
    ['the proxy without the header', undefined, '10.0.0.1'],
    ['an IPv6 address in its short form', '2001:0DB8:0:0::0001', '2001:db8::1'],
    ['an IPv4-mapped address as IPv4', '::ffff:203.0.113.7', '203.0.113.7'],
    ['an address without its port', '192.0.2.66, 203.0.113.7:4711', '203.0.113.7'],
    ['an IPv6 address without its port', '192.0.2.66, [2001:DB8::1]:4711', '2001:db8::1'],
    ['an IPv6 address in brackets', '[2001:db8::1]', '2001:db8::1'],
    ['an address in quotes', '"[2001:db8::1]:4711"', '2001:db8::1'],
    ['an IPv4-mapped address in brackets', '"[::ffff:203.0.113.7]:1"', '203.0.113.7'],
    ['the proxy for IPv4 in brackets', '[203.0.113.7]', '10.0.0.1'],
    ['the proxy for a short form of IPv4', '127.1', '10.0.0.1'],
    ['the proxy for half a quote', '"203.0.113.7', '10.0.0.1'],
    ['the last entry of several headers', ['192.0.2.66', '203.0.113.7'], '203.0.113.7'],
  ])('is %s of X-Forwarded-For behind a trusted proxy', (_, forwarded, address) => {
    const addressOf = makeAddressOf(['10.0.0.1', '10.0.0.2']);
    expect(addressOf(incoming('10.0.0.1', forwarded))).toBe(address);
    expect(addressOf(incoming('::ffff:10.0.0.1', forwarded))).toBe(address);
  });

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['2001:0db8::00:1', '2001:db8::1'],
    ['10.0.0.0/8', '10.9.9.9'],
    ['10.0.0.0/8', '::ffff:10.1.2.3'],
    ['::ffff:10.0.0.0/104', '10.1.2.3'],
    ['2001:db8::/32', '2001:db8:ffff::1'],
  ])('the trusted proxy %s may be the socket %s', (proxy, socket) => {
    const forwarded = `192.0.2.66, 203.0.113.7, ${socket}`;
    expect(makeAddressOf([proxy])(incoming(socket, forwarded))).toBe('203.0.113.7');
  });

  it.each([
    [[], '198.51.100.1'],
    [['10.0.0.1'], '198.51.100.1'],
    [['10.0.0.0/9'], '10.128.0.0'],
    [['2000::/3'], '198.51.100.1'],
  ])('is that of the socket, unless %j contains it', (proxies, socket) => {
    const addressOf = makeAddressOf(proxies);
    expect(addressOf(incoming(socket, '203.0.113.7'))).toBe(socket);
    expect(addressOf(incoming(`::ffff:${socket}`))).toBe(socket);
  });

  it('is not known without a socket', () => {
    expect(makeAddressOf(['10.0.0.1'])(incoming(undefined, '203.0.113.7'))).toBeNull();
    expect(makeAddressOf([])(undefined)).toBeNull();
  });

  it('is parsed from any header, however malformed, in linear time', () => {
    const addressOf = makeAddressOf(['10.0.0.0/8']);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.,[\]" ]*$/)), (text) => {
        const address = addressOf(incoming('10.0.0.1', text));
        expect(isIP(address as string)).toBeGreaterThan(0);
      }),
    );
    expect(addressOf(incoming('10.0.0.1', '10.0.0.2,'.repeat(100_000)))).toBe('10.0.0.1');
  });

  it.each([
    ['nginx', 'neither an IP address nor a range'],
    ['10.0.0.0/', 'neither'],
    ['10.0.0.0/08', 'neither'],
    ['10.0.0.0/8/8', 'neither'],
    ['10.0.0/8', 'neither'],
    ['fe80::1%eth0', 'neither'],
    ['10.0.0.0/33', 'more than 32 bits'],
    ['2001:db8::/129', 'more than 128 bits'],
    ['10.0.0.1/8', 'Write 10.0.0.0/8'],
    ['2001:db8::1/32', 'Write 2001:db8::/32'],
    ['0.0.0.0/0', 'contains all addresses'],
    ['::ffff:0.0.0.0/96', 'contains all addresses'],
  ])('rejects the trusted proxy %s: %s', (range, why) => {
    expect(() => makeAddressOf([range])).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(why) }),
    );
  });

  async function addresses(service: TestService, forwarded: string) {
    const headers = { 'x-forwarded-for': forwarded };
    const { code } = await service.code();
    const { deviceId, screenId, apiKey } = (await service.register(code, { headers })).body;
    await service.send('GET', `/devices/${screenId}/config`, { key: apiKey, headers });
    const audit = (await service.manage('GET', `/v1/audit?subjectId=${deviceId}`)).body.items[0];
    const device = (await service.manage('GET', `/v1/devices/${deviceId}`)).body;
    return [audit.address, device.lastAddress];
  }

  it('is recorded in the audit trail and on the device', async () => {
    const behind = await startService({ trustProxy: ['127.0.0.1', '10.0.0.2'] });
    expect(await addresses(behind, '192.0.2.66, 203.0.113.7, 10.0.0.2')).toEqual([
      '203.0.113.7',
      '203.0.113.7',
    ]);
    const open = await startService();
    expect(await addresses(open, '203.0.113.7')).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});
