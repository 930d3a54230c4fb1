// Commands of every kind against 200 malformed answers: each must exit with 7 and one line.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { json, raw, type StubService, stubService } from '../../support/network/stub-service.ts';
import { hastyClock } from '../../support/runtime/hasty-clock.ts';
import { runCli } from '../run-cli.ts';

const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const at = '2026-11-20T12:00:00.000Z';
const venue = {
  id,
  tenantId: id,
  name: 'Lobby',
  address: null,
  timezone: null,
  hours: null,
  labels: { floor: '2' },
  createdAt: at,
  updatedAt: at,
};
const code = { status: 'pending', createdAt: at, expiresAt: at };
const screen = {
  ...venue,
  venueId: id,
  state: 'active',
  deviceId: id,
  provisioningCode: code,
  address: undefined,
  timezone: undefined,
};
const me = {
  tokenId: id,
  name: 'Runbook',
  role: 'operator',
  expiresAt: null,
  venueIds: null,
  tenantId: id,
  tenantName: 'default',
};
const page = (item: object) => ({ items: [item], nextCursor: null });

/** Commands, the valid answer of the tested request, and the answers to earlier requests. */
const commands: [argv: string[], good: object, ...before: object[]][] = [
  [['whoami'], me],
  [['whoami', '-o', 'json'], me],
  [['venue', 'list'], page(venue)],
  [['venue', 'list', '-o', 'csv'], page(venue)],
  [['venue', 'list', '--jq', '.[].name'], page(venue)],
  [['venue', 'get', id], venue],
  [['venue', 'get', 'Lobby', '-o', 'yaml'], page(venue)],
  [['venue', 'create', '--name', 'Lobby'], venue],
  [['venue', 'update', id, '--name', 'Hall'], venue],
  [['venue', 'update', id, '--name', 'Hall', '-o', 'wide'], venue, venue],
  [['screen', 'list', '-o', 'name'], page(screen), page(venue)],
  [['screen', 'list', '-o', 'json'], page(screen)],
  [['screen', 'list', '-o', 'ndjson', '--fields', 'id,labels.floor'], page(screen)],
];

type Path = (string | number)[];

/** Returns the paths of a value that can be replaced. Skips empty values. */
function places(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, one]) =>
    one === null || one === undefined ? [] : places(one, [...path, key]),
  );
}

function put(value: unknown, [key, ...rest]: Path, other: unknown): unknown {
  if (key === undefined) return other;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key] = put(copy[key], rest, other);
  return copy;
}

const oneOfThese = fc.constantFrom;
/** Values of a wrong type for every member of these answers. */
const alien = oneOfThese<unknown[]>(true, [], [1], ['x'], { a: 1 }, { length: 1 }, 1e308);
const html = oneOfThese(
  '<!doctype html><title>502</title>',
  '<html>\u001b[2J',
  'Bad gateway',
  'OK',
);
const badStatus = oneOfThese(302, 400, 401, 403, 404, 409, 418, 500, 502, 503);

/** A malformed answer: its body and status. */
const malformed = (good: object) =>
  fc.oneof(
    fc.record({
      status: oneOfThese(200, 201),
      body: fc.nat().map((n) => JSON.stringify(good).slice(0, n % JSON.stringify(good).length)),
    }),
    fc.record({
      status: oneOfThese(200, 201),
      body: fc
        .tuple(oneOfThese(...places(good)), alien)
        .map(([path, value]) => JSON.stringify(put(good, path, value))),
    }),
    fc.record({
      status: oneOfThese(200, 201),
      body: oneOfThese(
        '',
        ' ',
        'null',
        '[]',
        '1',
        '"x"',
        '{}',
        '\u0000',
        '{"items":[null],"nextCursor":null}',
      ),
    }),
    fc.record({ status: oneOfThese(200, 201), body: html }),
    fc.record({ status: fc.constant(304), body: fc.constant('') }),
    fc.record({ status: badStatus, body: html }),
    fc.record({
      status: badStatus,
      body: oneOfThese(
        '',
        '{}',
        'null',
        '[]',
        '{"code":5}',
        '{"code":{},"detail":[]}',
        '{"code":"NOT ONE"}',
      ),
    }),
    fc.record({
      status: oneOfThese(200, 404),
      body: fc
        .uint8Array({ minLength: 1, maxLength: 40 })
        .map((bytes) => Buffer.from(bytes).fill(0xff, 0, 1)),
    }),
  );

let stub: StubService;
beforeAll(async () => {
  stub = await stubService();
});

const run = (argv: string[]) =>
  runCli(argv, {
    clock: hastyClock(),
    env: {
      SIGNAGE_URL: stub.url,
      SIGNAGE_TOKEN: `mak_${'x'.repeat(30)}`,
      XDG_CONFIG_HOME: '/nowhere',
    },
  });

const cases = commands.map(([argv, good, ...before]) => ({
  called: argv.join(' '),
  argv,
  good,
  before: before.map((one) => json(200, one)),
}));

describe.each(cases)('signage $called', ({ argv, good, before }) => {
  it('succeeds with the valid answer', async () => {
    stub.answers.splice(0, Infinity, ...before, json(200, good));
    expect(await run(argv)).toMatchObject({ code: 0, stderr: '' });
  });

  it('exits with 7 and one line for every malformed answer', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(malformed(good), async ({ status, body }) => {
        stub.answers.splice(
          0,
          Infinity,
          ...before,
          raw(status, body, { 'content-type': 'application/json' }),
        );
        const { code, stdout, stderr } = await run(argv);
        expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
        if (argv.some((word) => word.endsWith('json')))
          expect(JSON.parse(stderr)).toMatchObject({ exitCode: 7 });
        else
          expect(stderr.split('\n').filter((line) => line.startsWith('signage: '))).toHaveLength(1);
        expect(stderr).not.toContain('\u001b');
        expect(stderr).not.toMatch(/unexpected happened|^ {4}at /m);
      }),
      { numRuns: Math.ceil(200 / commands.length) },
    );
  });
});

it.each([
  ['api GET', ['api', 'GET', '/v1/me']],
  ['api GET --paginate', ['api', 'GET', '/v1/venues', '--paginate']],
  ['api POST', ['api', 'POST', '/v1/devices/provisioning-codes']],
  ['venue list', ['venue', 'list']],
  ['venue delete', ['venue', 'delete', id, '--yes']],
])('signage %s exits with 7 for a 304 that it did not ask for', async (_, argv) => {
  stub.answers.splice(0, Infinity, raw(304, '', { etag: '"1"' }));
  const { code, stdout, stderr } = await run(argv);
  expect(stderr).toContain('answered 304 to a request without If-None-Match');
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
});
