import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeAddressOf } from '../../../src/http/request/client-address.ts';
import { startService, type TestService } from '../../support/service.ts';

const incoming = (remoteAddress: string | undefined, forwarded?: string | string[]) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a caller', () => {
  it.each<[string, string[], string | undefined, string | string[] | undefined, string | null]>([
    ['the socket’s', [], '198.51.100.1', undefined, '198.51.100.1'],
    [
      'the socket’s, whatever X-Forwarded-For says',
      [],
      '198.51.100.1',
      '203.0.113.7',
      '198.51.100.1',
    ],
    [
      'the socket’s when that is no trusted proxy',
      ['10.0.0.1'],
      '198.51.100.1',
      '203.0.113.7',
      '198.51.100.1',
    ],
    ['the socket’s, written plainly', [], '::ffff:198.51.100.1', undefined, '198.51.100.1'],
    [
      'the last of X-Forwarded-For behind a trusted proxy',
      ['10.0.0.1'],
      '10.0.0.1',
      '192.0.2.66, 203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the last that is no trusted proxy',
      ['10.0.0.1', '10.0.0.2'],
      '10.0.0.1',
      '192.0.2.66, 203.0.113.7, 10.0.0.2',
      '203.0.113.7',
    ],
    [
      'the last, for a proxy that is not trusted comes between',
      ['10.0.0.1', '10.0.0.2'],
      '10.0.0.1',
      '203.0.113.7, 10.0.0.3, 10.0.0.2',
      '10.0.0.3',
    ],
    ['the proxy itself when it says nothing', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
    [
      'the proxy itself when all are proxies',
      ['10.0.0.1', '10.0.0.2'],
      '10.0.0.1',
      '10.0.0.2, 10.0.0.1',
      '10.0.0.1',
    ],
    [
      'the proxy itself when what it says is no address',
      ['10.0.0.1'],
      '10.0.0.1',
      '203.0.113.7, unknown',
      '10.0.0.1',
    ],
    ['the proxy itself when the header is empty', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
    [
      'an IPv6 address, in its short form',
      ['10.0.0.1'],
      '10.0.0.1',
      '2001:0DB8:0:0::0001',
      '2001:db8::1',
    ],
    [
      'an IPv4-mapped address as IPv4',
      ['10.0.0.1'],
      '::ffff:10.0.0.1',
      '::ffff:203.0.113.7',
      '203.0.113.7',
    ],
    [
      'a proxy named in another spelling',
      ['2001:0db8::00:1'],
      '2001:db8::1',
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the one that a proxy gave with its port',
      ['10.0.0.1'],
      '10.0.0.1',
      '192.0.2.66, 203.0.113.7:4711',
      '203.0.113.7',
    ],
    [
      'an IPv6 address with its port',
      ['10.0.0.1'],
      '10.0.0.1',
      '192.0.2.66, [2001:DB8::1]:4711',
      '2001:db8::1',
    ],
    ['an IPv6 address in brackets', ['10.0.0.1'], '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['an address in quotes', ['10.0.0.1'], '10.0.0.1', '"[2001:db8::1]:4711"', '2001:db8::1'],
    [
      'an IPv4-mapped address in brackets, as IPv4',
      ['10.0.0.1'],
      '10.0.0.1',
      '"[::ffff:203.0.113.7]:1"',
      '203.0.113.7',
    ],
    [
      'the proxy itself for an IPv4 address in brackets',
      ['10.0.0.1'],
      '10.0.0.1',
      '[203.0.113.7]',
      '10.0.0.1',
    ],
    ['the proxy itself for a short form of IPv4', ['10.0.0.1'], '10.0.0.1', '127.1', '10.0.0.1'],
    ['the proxy itself for half a quote', ['10.0.0.1'], '10.0.0.1', '"203.0.113.7', '10.0.0.1'],
    [
      'the last that is in no trusted range',
      ['10.0.0.0/8'],
      '10.9.9.9',
      '192.0.2.66, 203.0.113.7, 10.1.2.3:80',
      '203.0.113.7',
    ],
    [
      'the socket’s just outside of a trusted range',
      ['10.0.0.0/9'],
      '10.128.0.0',
      '203.0.113.7',
      '10.128.0.0',
    ],
    [
      'the last that is in no trusted range of IPv6',
      ['2001:db8::/32'],
      '2001:db8:ffff::1',
      '203.0.113.7, [2001:db8::7]',
      '203.0.113.7',
    ],
    [
      'told by an IPv4-mapped socket in a trusted range',
      ['10.0.0.0/8'],
      '::ffff:10.1.2.3',
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'told by a proxy in a range of IPv4-mapped addresses',
      ['::ffff:10.0.0.0/104'],
      '10.1.2.3',
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the IPv4 socket’s, which is in no range of IPv6',
      ['2000::/3'],
      '198.51.100.1',
      '203.0.113.7',
      '198.51.100.1',
    ],
    [
      'the header sent several times',
      ['10.0.0.1'],
      '10.0.0.1',
      ['192.0.2.66', '203.0.113.7'],
      '203.0.113.7',
    ],
    ['not known without a socket', ['10.0.0.1'], undefined, '203.0.113.7', null],
  ])('is %s', (_, proxies, socket, forwarded, address) => {
    expect(makeAddressOf(proxies)(incoming(socket, forwarded))).toBe(address);
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

  it('is unknown to a mounted service', () => expect(makeAddressOf([])(undefined)).toBeNull());

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
