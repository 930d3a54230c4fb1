import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type LookupFunction } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { makeCallableAddresses } from '../../src/network/callable-address.ts';
import { answerLimitMs, makeWebhookSender } from '../../src/network/webhook-sender.ts';
import { startLocally } from '../support/network/local-server.ts';
import { hastyClock } from '../support/runtime/hasty-clock.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';

const sending = { headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{}') };
const publicAddress = '93.184.216.34';

/** A look-up that returns these addresses in turn, one for each call. */
function resolvingTo(...addresses: string[]): LookupFunction {
  let call = 0;
  return (_, options, callback) => {
    const address = addresses[Math.min(call++, addresses.length - 1)] ?? '';
    if (options.all) callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    else callback(null, address, address.includes(':') ? 6 : 4);
  };
}

const senderTo = (allowed: string[], lookup?: LookupFunction, clock = systemClock) =>
  makeWebhookSender({
    addresses: makeCallableAddresses(allowed),
    clock,
    ...(lookup && { lookup }),
  });

async function receiver(answer: RequestListener) {
  const paths: string[] = [];
  const { url } = await startLocally(
    createServer((request, response) => {
      paths.push(request.url ?? '');
      answer(request, response);
    }),
  );
  return { url: new URL(`${url}/hook`), paths };
}

const forbidden = [
  ...['127.0.0.1', '127.1', '127.0.0.1.', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
  ...['017700000001', '0x7f.1', '%31%32%37.0.0.1', '１２７.0.0.1', '127.0.0。1', '0', '0.0.0.0'],
  ...['10.0.0.1', '0xa.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '3232235521'],
  ...['100.64.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe', '192.0.2.1', '198.18.0.1'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:7f00:1]', '[::127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2001::1]', '[2001:db8::1]', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]'],
  ...['[ff02::1]', '[100::1]', '[4000::1]'],
  // NAT64 for local use, in each layout of RFC 6052: /48, /56, /64 and /96.
  ...['[64:ff9b:1::8.8.8.8]', '[64:ff9b:1:a00:0:100::]', '[64:ff9b:1:7f:0:1:808:808]'],
  ...['[64:ff9b:1:abcd:7f:0:100:0]', '[64:ff9b:1:ffff:ffff:ffff:808:808]'],
  // 6to4, Teredo, IPv4-compatible, IPv4-translated and ISATAP.
  ...['[2002:808:808::1]', '[2001:0:808:808::1]', '[::8.8.8.8]', '[::ffff:0:8.8.8.8]'],
  ...['[2606:4700::5efe:a00:1]', '[2606:4700::200:5efe:808:808]', '[fe80::5efe:7f00:1]'],
  ...['[2001:10::1]', '[2001:20::1]', '[2001:2::1]', '[3fff::1]', '[5f00::1]'],
];

it.each(forbidden)('refuses https://%s/ before a connection', (host) => {
  const { checkUrl } = makeCallableAddresses([]);
  expect(() => checkUrl(new URL(`https://${host}/`))).toThrow(/not public/);
});

it.each([publicAddress, '[2606:4700::1111]', '[64:ff9b::8.8.8.8]', 'example.com'])(
  'accepts https://%s/',
  (host) => {
    const { checkUrl } = makeCallableAddresses([]);
    expect(() => checkUrl(new URL(`https://${host}/`))).not.toThrow();
  },
);

it.each([
  ['http://example.com/', 'https://'],
  ['ftp://example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['https://user:secret@example.com/', 'user name'],
])('refuses %s', (url, reason) => {
  const { checkUrl } = makeCallableAddresses([]);
  expect(() => checkUrl(new URL(url))).toThrow(reason);
});

it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '10.0.0.1', '169.254.169.254'])(
  'refuses a name that resolves to %s',
  async (address) => {
    const outcome = await senderTo([], resolvingTo(address)).send(
      new URL('https://name.example/'),
      sending,
    );
    expect(outcome).toMatchObject({ status: null, error: expect.stringMatching(/not public/) });
    expect(outcome.error).not.toContain(address);
  },
);

it('refuses a name with one public and one private address', async () => {
  const lookup: LookupFunction = (_host, _options, callback) =>
    callback(null, [
      { address: publicAddress, family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
  const outcome = await senderTo([], lookup).send(new URL('https://name.example/'), sending);
  expect(outcome.error).toMatch(/^The address is not public/);
});

it('refuses a name that resolves to another address the second time', async () => {
  const { url, paths } = await receiver((_, response) => response.end());
  const name = new URL(`http://name.example:${url.port}/hook`);
  const sender = senderTo(['127.0.0.2'], resolvingTo('127.0.0.2', '127.0.0.1'));
  await sender.send(name, sending);
  expect(await sender.send(name, sending)).toMatchObject({
    status: null,
    error: expect.stringMatching(/^The address is not public/),
  });
  expect(paths).toEqual([]);
});

it.each(['http', 'https'])(
  'sends no byte by %s to another address than the one that was resolved',
  async (scheme) => {
    let received = 0;
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received += bytes.length;
      });
    });
    const { url } = await startLocally(server);
    let reads = 0;
    const changing = {
      family: 4,
      get address() {
        return reads++ === 0 ? '127.0.0.2' : '127.0.0.1';
      },
    };
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, [changing]);
    const name = new URL(`${scheme}://name.example:${new URL(url).port}/hook`);
    const outcome = await senderTo(['127.0.0.2'], lookup).send(name, sending);
    expect(outcome.error).toMatch(/^The address is not public/);
    expect(received).toBe(0);
  },
);

it('calls an allowed address by plain http, and no other', async () => {
  const { url, paths } = await receiver((_, response) => response.writeHead(204).end());
  expect(await senderTo(['127.0.0.0/8']).send(url, sending)).toMatchObject({
    status: 204,
    error: null,
  });
  expect(await senderTo(['10.0.0.0/8']).send(url, sending)).toMatchObject({ status: null });
  const plain = new URL(`http://name.example:${url.port}/`);
  const outcome = await senderTo(['10.0.0.0/8'], resolvingTo(publicAddress)).send(plain, sending);
  expect(outcome.error).toMatch(/Plain http/);
  expect(paths).toEqual(['/hook']);
});

it.each(['fe80::1%eth0', 'not an address'])('names no %s of a name', async (address) => {
  const name = new URL('https://name.example/');
  const { error } = await senderTo([], resolvingTo(address)).send(name, sending);
  expect(error).not.toContain(address);
  expect(error).toMatch(/^The address/);
});

it('calls addresses of NAT64 for local use that are allowed', () => {
  const url = new URL('https://[64:ff9b:1::7f00:1]/');
  expect(() => makeCallableAddresses(['64:ff9b:1::/48']).checkUrl(url)).not.toThrow();
  expect(() => makeCallableAddresses(['127.0.0.0/8']).checkUrl(url)).toThrow(/not public/);
});

it('follows no redirect', async () => {
  const { url, paths } = await receiver((_, response) =>
    response.writeHead(307, { Location: '/elsewhere' }).end(),
  );
  expect(await senderTo(['127.0.0.1']).send(url, sending)).toMatchObject({ status: 307 });
  expect(paths).toEqual(['/hook']);
});

it('gives up on a receiver that never answers, after 15 seconds', async () => {
  const { url } = await receiver(() => {});
  const outcome = await senderTo(['127.0.0.1'], undefined, hastyClock()).send(url, sending);
  expect(outcome).toMatchObject({ status: null, error: 'no answer within 15 s' });
  expect(outcome.ms).toBeGreaterThanOrEqual(answerLimitMs);
});

it('does not read an answer of 1 GB', async () => {
  let sent = 0;
  const { url } = await receiver((_, response) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const more = () => {
      while (sent < 1024 && !response.destroyed && response.write(chunk)) sent++;
    };
    response.on('drain', more);
    more();
  });
  const sender = senderTo(['127.0.0.1']);
  for (const keepsText of [false, true]) {
    const outcome = await sender.send(url, { ...sending, keepsText });
    expect(outcome).toMatchObject({ status: 200, text: keepsText ? 'x'.repeat(200) : '' });
  }
  expect(sent).toBeLessThan(64);
});

it('ends an answer of one byte a second after 15 seconds, with its status', async () => {
  const clock = new ManualClock();
  const { url } = await receiver((_, response) => {
    response.write('yyy');
    // The clock jumps only once the bytes have had time to arrive.
    setTimeout(() => clock.advance(answerLimitMs), 200);
  });
  const sender = senderTo(['127.0.0.1'], undefined, clock);
  const outcome = await sender.send(url, { ...sending, keepsText: true });
  expect(outcome).toMatchObject({ status: 200, text: 'yyy', ms: answerLimitMs });
});

it('keeps only printable characters of an answer', async () => {
  const { url } = await receiver((_, response) => response.end('\u001b[31mno\u0000\u202e\n“ünï”'));
  const outcome = await senderTo(['127.0.0.1']).send(url, { ...sending, keepsText: true });
  expect(outcome.text).toBe('[31mno “ünï”');
});

it('names no path of the URL in its errors', async () => {
  const { error } = await senderTo(['127.0.0.1']).send(
    new URL('http://127.0.0.1:9/secret-path'),
    sending,
  );
  expect(error).toBe('ECONNREFUSED');
});
