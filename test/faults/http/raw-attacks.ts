import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Aim, Attack } from './attack.ts';

const crlf = '\r\n';
const mebibyte = 1024 * 1024;

const hostile = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/hostile/${name}.json`, import.meta.url), 'utf8'));

type RawRequest = Omit<Attack, 'bytes'> & { request: string[] };

/**
 * Malformed and ambiguous requests. Most smuggle a second request that would create a venue. In
 * the table, `{x*9}` stands for nine times the letter x.
 */
export function framingAttacks({ host, token }: Aim): Attack[] {
  const own = `Host: ${host}${crlf}Authorization: Bearer ${token}${crlf}Content-Type: application/json`;
  const smuggled = [
    'POST /v1/venues HTTP/1.1',
    own,
    'Content-Length: 19',
    'Connection: close',
    '',
    '{"name":"Smuggled"}',
  ].join(crlf);
  const values: Record<string, string> = {
    host,
    token,
    own,
    smuggled,
    length: String(smuggled.length),
  };
  const fill = (text: string) =>
    text
      .replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
      .replace(/\{(.)\*(\d+)\}/g, (_, letter: string, count) => letter.repeat(Number(count)));
  const get = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, '', ''].join(crlf);
  const last = get('/healthz', 'Connection: close');
  const tooMany = Array.from({ length: 1_500 }, (_, n) => `header${n}: b`);
  return [
    ...hostile('requests').map(({ request, ...one }: RawRequest) => ({
      ...one,
      bytes: request.map(fill).join(crlf),
    })),
    {
      name: 'ten requests at once, with one between that is none',
      bytes: `${get('/healthz').repeat(9)}nonsense${crlf}${crlf}`,
      statuses: [...Array(9).fill(200), 400],
    },
    {
      name: 'three hundred requests at once',
      bytes: get('/v1/me').repeat(299) + last,
      statuses: [...Array(299).fill(401), 200],
    },
    {
      name: 'many headers',
      bytes: get('/healthz', 'Connection: close', ...tooMany),
      statuses: [431],
      code: 'headers_too_large',
    },
  ];
}

/** A body and the expected answer, on every path. `bytes` are in ISO 8859-1. */
interface RawBody {
  name: string;
  body?: string | Buffer;
  bytes?: string;
  status: number;
  code: string;
  headers?: string[];
}

const zipped = {
  status: 415,
  code: 'unsupported_media_type',
  headers: ['Content-Encoding: gzip'],
};
const rawBodies: RawBody[] = [
  ...hostile('bodies'),
  ...[
    ['arrays 500,000 deep', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['arrays 500,000 deep that never end', '['.repeat(500_000)],
    ['objects 170,000 deep', `${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}`],
  ].map(([name, body]) => ({ name, body, status: 400, code: 'invalid_json' })),
  { name: 'gzip', body: gzipSync('{"name":"x"}'), ...zipped },
  { name: 'gzip that bursts', body: gzipSync('['.repeat(100 * mebibyte)), ...zipped },
  { name: 'more than 1 MiB', body: ' '.repeat(mebibyte + 1), status: 413, code: 'body_too_large' },
];

function sent(path: string, key: string, host: string, one: RawBody): Attack {
  const { name, bytes = '', body = Buffer.from(bytes, 'latin1'), headers = [] } = one;
  const size = Buffer.byteLength(body);
  // A registration rejects a body over 16 KiB before any other check.
  const isTooLarge = path === '/devices/register' && size > 16_384;
  const isTyped = headers.some((header) => header.startsWith('Content-Type'));
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    ...(isTyped ? [] : ['Content-Type: application/json']),
    ...headers,
    'Connection: close',
    `Content-Length: ${size}${crlf}${crlf}`,
  ].join(crlf);
  return {
    name: `${path}: ${name}`,
    bytes: Buffer.concat([Buffer.from(head), Buffer.from(body)]),
    statuses: [isTooLarge ? 413 : one.status],
    code: isTooLarge ? 'body_too_large' : one.code,
  };
}

/**
 * Bodies that are not JSON, too large, too deep, or that contradict their headers, for all kinds of
 * callers.
 */
export function bodyAttacks({ host, token, key, screenId }: Aim): Attack[] {
  const head = `POST /v1/venues HTTP/1.1${crlf}Host: ${host}${crlf}Authorization: Bearer ${token}`;
  const chunk = `10000${crlf}${' '.repeat(65_536)}${crlf}`;
  return [
    ...rawBodies.flatMap((one) => [
      sent('/v1/venues', token, host, one),
      sent(`/devices/${screenId}/events`, key, host, one),
      sent('/devices/register', key, host, one),
    ]),
    {
      name: 'a body that never says how long it is',
      bytes: `${head}${crlf}Transfer-Encoding: chunked${crlf}${crlf}${chunk.repeat(17)}`,
      statuses: [413],
      code: 'body_too_large',
    },
  ];
}
