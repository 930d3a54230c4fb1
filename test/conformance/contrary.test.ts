// That every row can fail: against a service of which every answer is spoiled, in one way or another, none of them holds.
import { describe, expect, it } from 'vitest';
import type { Requester } from '../../src/client/requester.ts';
import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { adminToken, startService } from '../support/service.ts';

interface Plain {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  json: unknown;
}

/** What the rows need to be set up at all. */
const needed = [
  'id',
  'code',
  'apiKey',
  'deviceId',
  'screenId',
  'token',
  'tenantId',
  'role',
  'expiresInSeconds',
];

type Spoil = (value: string | number | boolean | null) => unknown;

/** JSON with its values spoiled; `list` does as much to arrays. */
function spoiled(value: unknown, spoil: Spoil, list: (items: unknown[]) => unknown[]): unknown {
  if (Array.isArray(value)) return list(value.map((one) => spoiled(one, spoil, list)));
  if (typeof value !== 'object' || value === null) return spoil(value as string);
  const keeps = ([name, one]: [string, unknown]) =>
    needed.includes(name) && typeof one !== 'object';
  return Object.fromEntries(
    Object.entries(value).map((entry) => [
      entry[0],
      keeps(entry) ? entry[1] : spoiled(entry[1], spoil, list),
    ]),
  );
}

const otherSuccess: Readonly<Record<number, number>> = {
  200: 203,
  201: 200,
  202: 200,
  204: 200,
  304: 200,
};

/** Other values of the same types, other statuses, other errors, no headers, and twice as many items. */
function others({ status, json }: Plain): Plain {
  const spoil: Spoil = (value) => {
    if (typeof value === 'string') return `${[...value].reverse().join('')}x`;
    return typeof value === 'number'
      ? value + 0.5
      : typeof value === 'boolean'
        ? !value
        : 'not null';
  };
  const error = { code: 'other', status: 1, errors: [{ path: '/other' }] };
  const body =
    status >= 400 ? error : spoiled(json, spoil, (items) => [...items, ...items].reverse());
  return { status: otherSuccess[status] ?? 418, headers: {}, json: body };
}

/** Success for everything, values of other types, lists that are empty, and secrets and traces in what was an error. */
function anything({ status, headers, json }: Plain): Plain {
  const all = { ...headers, 'x-source': ' ', 'x-config-source': 'default' };
  if (status >= 400)
    return { status: 200, headers: all, json: { apiKey: 'x', stack: 'at serve (serve.ts:1)' } };
  const spoil: Spoil = (value) =>
    typeof value === 'number' ? String(value) : typeof value === 'string' ? 7 : 'x';
  return { status, headers: all, json: spoiled(json, spoil, () => []) };
}

/** The rows that hold for a service all whose answers are spoiled so, but for whose token it is. */
async function passing(spoil: (answer: Plain) => Plain): Promise<string[]> {
  const service = await startService({ clock: systemClock });
  const makeRequester = async (): Promise<Requester> => {
    const send = makeUndiciRequester(undefined);
    return async (url, parts) => {
      const answer = await send(url, parts);
      const chunks: Buffer[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const json = text.startsWith('{') ? JSON.parse(text) : text;
      const isMe = url.endsWith('/v1/me') && answer.statusCode === 200;
      const now = isMe
        ? { ...answer, status: 200, json }
        : spoil({ status: answer.statusCode, headers: answer.headers, json });
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(now.json));
      })();
      return { statusCode: now.status, headers: now.headers, body };
    };
  };
  const held: string[] = [];
  for await (const { id, result } of runConformance({
    url: service.url,
    token: adminToken,
    makeRequester,
  }))
    if (result === 'pass') held.push(id);
  return held;
}

/** The rows that neither spoils: what they look at is left as it is, for without it no other row could be set up. */
const unspoiled = [
  // The answer to a registration.
  ...[
    'register.members',
    'register.api-key',
    'register.screen',
    'register.key-form',
    'playlist.screen',
    'revoke.again',
  ],
  // The answer to making a code, and that what sets others up succeeds.
  ...['code.2xx', 'code.form', 'code.alphabet', 'code.status', 'revoke.2xx'],
  // GET /v1/me, and the secret of a token.
  ...['token.me', 'request-id.given', 'request-id.own', 'tokens.once'],
  // That something is not there, or twice the same.
  ...['register.key-once', 'events.400.none-stored', 'venue.get'],
];

describe('no row', () => {
  it('holds whatever the answers are', { timeout: 60_000 }, async () => {
    const forAnything = new Set(await passing(anything));
    const held = (await passing(others)).filter((id) => forAnything.has(id));
    expect(held.toSorted()).toEqual(unspoiled.toSorted());
  });
});
