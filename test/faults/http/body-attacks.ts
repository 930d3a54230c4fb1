import { gzipSync } from 'node:zlib';
import type { Aim, Attack } from './attack.ts';

const levels = 500_000;
const mebibyte = 1024 * 1024;

/** A body and the expected answer, on every path. */
type Case = [
  name: string,
  body: string | Buffer,
  status: number,
  code: string,
  ...headers: string[],
];

const cases: Case[] = [
  [`arrays ${levels} deep`, '['.repeat(levels) + ']'.repeat(levels), 400, 'invalid_json'],
  [`arrays ${levels} deep that never end`, '['.repeat(levels), 400, 'invalid_json'],
  [
    'objects 170,000 deep',
    `${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}`,
    400,
    'invalid_json',
  ],
  ['JSON 65 deep', '['.repeat(65) + ']'.repeat(65), 400, 'invalid_json'],
  ['no JSON', '{"name":', 400, 'invalid_json'],
  ['two documents', '{"name":"a"}{"name":"b"}', 400, 'invalid_json'],
  ['NaN', '{"name":NaN}', 400, 'invalid_json'],
  ['a raw line end in a string', '{"name":"a\nb"}', 400, 'invalid_json'],
  ['bytes that are no UTF-8', Buffer.from('{"name":"\xff\xfe"}', 'latin1'), 400, 'invalid_json'],
  [
    'a surrogate as bytes',
    Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    400,
    'invalid_json',
  ],
  ['an overlong slash', Buffer.from('{"name":"\xc0\xaf"}', 'latin1'), 400, 'invalid_json'],
  ['a byte order mark', '\ufeff{"name":"x"}', 400, 'invalid_json'],
  ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le'), 400, 'invalid_json'],
  ['nothing', '', 400, 'invalid_json'],
  ['null', 'null', 400, 'invalid_request'],
  ['a number', '1e999', 400, 'invalid_request'],
  ['gzip', gzipSync('{"name":"x"}'), 415, 'unsupported_media_type', 'Content-Encoding: gzip'],
  [
    'gzip that bursts',
    gzipSync('['.repeat(100 * mebibyte)),
    415,
    'unsupported_media_type',
    'Content-Encoding: gzip',
  ],
  [
    'a coding that nobody knows',
    '{"name":"x"}',
    415,
    'unsupported_media_type',
    'Content-Encoding: x',
  ],
  ['another type', '{"name":"x"}', 415, 'unsupported_media_type', 'Content-Type: text/plain'],
  [
    'a form',
    'name=x',
    415,
    'unsupported_media_type',
    'Content-Type: application/x-www-form-urlencoded',
  ],
  ['more than 1 MiB', ' '.repeat(mebibyte + 1), 413, 'body_too_large'],
];

function sent(
  path: string,
  key: string,
  host: string,
  [name, body, status, code, ...more]: Case,
): Attack {
  const type = more.some((header) => header.startsWith('Content-Type'))
    ? []
    : ['Content-Type: application/json'];
  const size = Buffer.byteLength(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    ...type,
    ...more,
    'Connection: close',
  ];
  const head = `${lines.join('\r\n')}\r\nContent-Length: ${size}\r\n\r\n`;
  return {
    name: `${path}: ${name}`,
    bytes: Buffer.concat([Buffer.from(head), Buffer.from(body)]),
    statuses: [status],
    code,
  };
}

/**
 * Bodies that are not JSON, too large, too deep, or that contradict their headers, for all kinds of
 * callers.
 */
export function bodyAttacks({ host, token, key, screenId }: Aim): Attack[] {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const endless = [
    'POST /v1/venues HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Transfer-Encoding: chunked',
    '',
    '',
  ];
  // A registration rejects a body over 16 KiB before any other check.
  const small = cases.map(
    (one): Case =>
      Buffer.byteLength(one[1]) > 16_384
        ? [one[0], one[1], 413, 'body_too_large', ...(one.slice(4) as string[])]
        : one,
  );
  return [
    ...cases.map((one) => sent('/v1/venues', token, host, one)),
    ...cases.map((one) => sent(`/devices/${screenId}/events`, key, host, one)),
    ...small.map((one) => sent('/devices/register', key, host, one)),
    {
      name: 'a body that never says how long it is',
      bytes: endless.join('\r\n') + chunk.repeat(17),
      statuses: [413],
      code: 'body_too_large',
    },
  ];
}
