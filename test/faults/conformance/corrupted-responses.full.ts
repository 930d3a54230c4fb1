// Proves that every check can fail: with corrupted responses, none of them passes.
import { describe, expect, it } from 'vitest';
import type { Requester } from '../../../src/client/requester.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { runChecks, withResult } from '../../conformance/run-checks.ts';
import { startService } from '../../support/service/service.ts';

interface Plain {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  json: unknown;
}

/** Members that the setup of the checks depends on. */
const setupMembers = [
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

type Corrupt = (value: string | number | boolean | null) => unknown;

/** Corrupts all values of a JSON document with `corrupt`, and all arrays with `list`. */
function corrupted(
  value: unknown,
  corrupt: Corrupt,
  list: (items: unknown[]) => unknown[],
): unknown {
  if (Array.isArray(value)) return list(value.map((one) => corrupted(one, corrupt, list)));
  if (typeof value !== 'object' || value === null) return corrupt(value as string);
  const keeps = ([name, one]: [string, unknown]) =>
    setupMembers.includes(name) && typeof one !== 'object';
  return Object.fromEntries(
    Object.entries(value).map((entry) => [
      entry[0],
      keeps(entry) ? entry[1] : corrupted(entry[1], corrupt, list),
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

/** Other values of the same types, other statuses and errors, no headers, and duplicated items. */
function others({ status, json }: Plain): Plain {
  const corrupt: Corrupt = (value) => {
    if (typeof value === 'string') return `${[...value].reverse().join('')}x`;
    return typeof value === 'number'
      ? value + 0.5
      : typeof value === 'boolean'
        ? !value
        : 'not null';
  };
  const error = { code: 'other', status: 1, errors: [{ path: '/other' }] };
  const body =
    status >= 400 ? error : corrupted(json, corrupt, (items) => [...items, ...items].reverse());
  return { status: otherSuccess[status] ?? 418, headers: {}, json: body };
}

/**
 * Success for every request, values of other types, empty lists, and secrets and stack traces in
 * former errors.
 */
function anything({ status, headers, json }: Plain): Plain {
  const all = { ...headers, 'x-source': ' ', 'x-config-source': 'default' };
  if (status >= 400)
    return { status: 200, headers: all, json: { apiKey: 'x', stack: 'at serve (serve.ts:1)' } };
  const corrupt: Corrupt = (value) =>
    typeof value === 'number' ? String(value) : typeof value === 'string' ? 7 : 'x';
  return { status, headers: all, json: corrupted(json, corrupt, () => []) };
}

/** Returns the checks that pass although every response is corrupted, except for GET /v1/me. */
async function passing(corrupt: (answer: Plain) => Plain): Promise<string[]> {
  const service = await startService({ clock: systemClock });
  const makeRequester = async (): Promise<Requester> => {
    const send = makeUndiciRequester(undefined);
    return async (url, parts) => {
      const answer = await send(url, parts);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const json = text.startsWith('{') ? JSON.parse(text) : text;
      const isMe = url.endsWith('/v1/me') && answer.statusCode === 200;
      const now = isMe
        ? { ...answer, status: 200, json }
        : corrupt({ status: answer.statusCode, headers: answer.headers, json });
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(now.json));
      })();
      return { statusCode: now.status, headers: now.headers, body };
    };
  };
  const { outcomes } = await runChecks(service.url, { makeRequester });
  return withResult(outcomes, 'pass').map(({ id }) => id);
}

/**
 * Checks that neither kind of corruption affects, because the setup of the other checks needs the
 * same values.
 */
const unaffected = [
  // The response to a registration.
  ...[
    'register.members',
    'register.api-key',
    'register.screen',
    'register.key-form',
    'playlist.screen',
    'revoke.again',
  ],
  // The response to creating a code, and calls that the setup needs to succeed.
  ...['code.2xx', 'code.form', 'code.alphabet', 'code.status', 'revoke.2xx'],
  // GET /v1/me, and the secret of a token.
  ...['token.me', 'request-id.given', 'request-id.own', 'tokens.once'],
  // That something is absent, or the same twice.
  ...['register.key-once', 'events.400.none-stored', 'venue.get'],
];

describe('no check', () => {
  it('passes with every kind of corrupted response', async () => {
    const forAnything = new Set(await passing(anything));
    const passed = (await passing(others)).filter((id) => forAnything.has(id));
    expect(passed.toSorted()).toEqual(unaffected.toSorted());
  });
});
