import type { Aim, Attack } from './attack.ts';

const crlf = '\r\n';

/** Returns the bytes of a request. Headers and body need not agree. */
function request(line: string, headers: readonly string[], body = ''): string {
  return [line, ...headers, '', body].join(crlf);
}

/** Malformed and ambiguous requests. Most smuggle a second request that would create a venue. */
export function framingAttacks({ host, token }: Aim): Attack[] {
  const own = [`Host: ${host}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json'];
  const smuggled = request(
    'POST /v1/venues HTTP/1.1',
    [...own, 'Content-Length: 19', 'Connection: close'],
    '{"name":"Smuggled"}',
  );
  const none = (name: string, bytes: string, code = 'malformed_request'): Attack => ({
    name,
    bytes,
    statuses: [400],
    code,
  });
  const post = (...headers: string[]) => [...own, ...headers];
  const venue = 'POST /v1/venues HTTP/1.1';
  const chunked = (body: string, ...more: string[]) =>
    request(venue, post('Transfer-Encoding: chunked', ...more), body);
  const get = (path: string, ...more: string[]) =>
    request(`GET ${path} HTTP/1.1`, [...more, 'Connection: close']);
  const twoWays: [string, string[], string][] = [
    [
      'a length and chunks (CL.TE)',
      ['Content-Length: 6', 'Transfer-Encoding: chunked'],
      `0${crlf}${crlf}${smuggled}`,
    ],
    [
      'chunks and a length (TE.CL)',
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      `0${crlf}${crlf}${smuggled}`,
    ],
    [
      'chunks that are not the last coding',
      ['Transfer-Encoding: chunked, identity'],
      `0${crlf}${crlf}${smuggled}`,
    ],
    ['chunks in chunks', ['Transfer-Encoding: chunked, chunked'], `0${crlf}${crlf}${smuggled}`],
    [
      'a space before the colon of the coding',
      ['Transfer-Encoding : chunked'],
      `0${crlf}${crlf}${smuggled}`,
    ],
    [
      'a vertical tab before the coding',
      ['Transfer-Encoding:\x0bchunked'],
      `0${crlf}${crlf}${smuggled}`,
    ],
    ['two lengths', ['Content-Length: 0', `Content-Length: ${smuggled.length}`], smuggled],
    ['two lengths that agree', ['Content-Length: 0', 'Content-Length: 0'], smuggled],
    ['a list of lengths', ['Content-Length: 0, 0'], smuggled],
    ['a length with a sign', ['Content-Length: +0'], smuggled],
    ['a negative length', ['Content-Length: -1'], smuggled],
    ['a length in hex', ['Content-Length: 0x0'], smuggled],
    ['a length with a space in it', ['Content-Length: 1 0'], smuggled],
    ['a length that no number holds', ['Content-Length: 99999999999999999999'], smuggled],
    ['a header that is folded', ['X-Fold: a', ' Transfer-Encoding: chunked'], smuggled],
    ['a header without a colon', ['X-Nothing'], smuggled],
    ['a header without a name', [': x'], smuggled],
    ['NUL in a header', ['X-Nul: a\0b'], smuggled],
    ['a lone CR in a header', ['X-Cr: a\rTransfer-Encoding: chunked'], smuggled],
    ['a lone LF in a header', ['X-Lf: a\nTransfer-Encoding: chunked'], smuggled],
  ];
  const codings: [string, string[]][] = [
    ['an unknown coding', ['Transfer-Encoding: xchunked']],
    ['gzip before chunked', ['Transfer-Encoding: gzip, chunked']],
    ['gzip and chunked on two lines', ['Transfer-Encoding: gzip', 'transfer-encoding: chunked']],
  ];
  return [
    ...codings.map(
      ([name, headers]): Attack => ({
        name,
        bytes: request(venue, post(...headers), `0${crlf}${crlf}${smuggled}`),
        statuses: [501],
        code: 'transfer_encoding_unsupported',
      }),
    ),
    ...twoWays.map(([name, headers, body]) => none(name, request(venue, post(...headers), body))),
    none(
      'lone LFs throughout',
      request(venue, post('Content-Length: 0')).replaceAll(crlf, '\n') + smuggled,
    ),
    none('no chunk size', chunked(`x${crlf}${smuggled}`)),
    none('a negative chunk size', chunked(`-1${crlf}${smuggled}`)),
    none('a chunk size of 0x', chunked(`0x0${crlf}${crlf}${smuggled}`)),
    none('a chunk size that no number holds', chunked(`${'f'.repeat(20)}${crlf}${smuggled}`)),
    none('a chunk longer than its size', chunked(`1${crlf}{}${crlf}0${crlf}${crlf}${smuggled}`)),
    none('a chunk size that ends with LF', chunked(`2\n{}${crlf}0${crlf}${crlf}${smuggled}`)),
    {
      name: 'endless chunk extensions',
      bytes: chunked(`2;${'x'.repeat(40_000)}${crlf}{}${crlf}`),
      statuses: [413],
      code: 'body_too_large',
    },
    none('no Host', get('/healthz')),
    none('two Hosts', get('/healthz', `Host: ${host}`, 'Host: elsewhere.example')),
    none('two Hosts that agree', get('/healthz', `Host: ${host}`, `hOST: ${host}`)),
    none('a Host with a path', get('/healthz', 'Host: a/b')),
    none('a Host with a user', get('/healthz', 'Host: a@b')),
    none('no HTTP', `HELO there${crlf}${crlf}`),
    none('a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
    none('the preface of HTTP/2', `PRI * HTTP/2.0${crlf}${crlf}SM${crlf}${crlf}`),
    none('HTTP/0.9', `GET /healthz${crlf}${crlf}`),
    {
      name: 'a method in lower case, which is another method',
      bytes: `get /healthz HTTP/1.1${crlf}Host: ${host}${crlf}${crlf}`,
      statuses: [501],
      code: 'method_unknown',
    },
    none('a backslash in the path', get('/v1\\venues', `Host: ${host}`)),
    {
      name: 'a second request after one with Connection: close',
      bytes: get('/healthz', `Host: ${host}`) + smuggled,
      statuses: [200],
    },
    {
      name: 'HTTP/1.0 without a Host',
      bytes: `GET /healthz HTTP/1.0${crlf}${crlf}`,
      statuses: [200],
    },
    {
      name: 'a path of a whole URL',
      bytes: get(`http://${host}/healthz`, `Host: ${host}`),
      statuses: [200],
    },
    {
      name: 'a whole URL of another host',
      bytes: get(`http://evil.example/v1/venues`, `Host: ${host}`),
      statuses: [401],
      code: 'credential_missing',
    },
    {
      name: 'two slashes',
      bytes: get('//evil.example/healthz', `Host: ${host}`),
      statuses: [404],
      code: 'not_found',
    },
    {
      name: 'dots',
      bytes: get('/v1/../../etc/passwd', `Host: ${host}`),
      statuses: [404],
      code: 'not_found',
    },
    {
      name: 'TRACE',
      bytes: request('TRACE /v1/venues HTTP/1.1', [...own, 'Connection: close']),
      statuses: [405],
      code: 'method_not_allowed',
    },
    {
      name: 'CONNECT',
      bytes: request('CONNECT elsewhere.example:443 HTTP/1.1', own),
      statuses: [],
    },
    {
      name: 'an upgrade',
      bytes: get('/healthz', `Host: ${host}`, 'Upgrade: websocket'),
      statuses: [200],
    },
    {
      name: 'an expectation that nobody knows',
      bytes: get('/healthz', `Host: ${host}`, 'Expect: a miracle'),
      statuses: [200],
    },
    {
      name: '100-continue, then no JSON',
      bytes: request(
        venue,
        post('Expect: 100-continue', 'Content-Length: 1', 'Connection: close'),
        '{',
      ),
      statuses: [100, 400],
      code: 'invalid_json',
    },
    {
      name: 'ten requests at once, with one between that is none',
      bytes: `${request('GET /healthz HTTP/1.1', [`Host: ${host}`]).repeat(9)}nonsense${crlf}${crlf}`,
      statuses: [...Array.from({ length: 9 }, () => 200), 400],
    },
    {
      name: 'three hundred requests at once',
      bytes:
        request('GET /v1/me HTTP/1.1', [`Host: ${host}`]).repeat(299) +
        get('/healthz', `Host: ${host}`),
      statuses: [...Array.from({ length: 299 }, () => 401), 200],
    },
    {
      name: 'a long request line',
      bytes: get(`/${'x'.repeat(9_000)}`, `Host: ${host}`),
      statuses: [431],
      code: 'headers_too_large',
    },
    {
      name: 'a long header',
      bytes: get('/healthz', `Host: ${host}`, `X-Long: ${'x'.repeat(9_000)}`),
      statuses: [431],
      code: 'headers_too_large',
    },
    {
      name: 'many headers',
      bytes: get(
        '/healthz',
        `Host: ${host}`,
        ...Array.from({ length: 1_500 }, (_, n) => `header${n}: b`),
      ),
      statuses: [431],
      code: 'headers_too_large',
    },
  ];
}
