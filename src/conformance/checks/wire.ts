import { mapInTurn } from '../../domain/concurrency.ts';
import { type Answer, at, listAt, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Provokes one error of each harmless status: 400, 401, 404, 405. */
function errors(fixture: Fixture): Promise<readonly Answer[]> {
  return fixture.once('errors', async () => {
    const { send, screenId } = await fixture.tv();
    return [
      await send('POST', 'events', { body: [{ type: 'heartbeat' }] }),
      await fixture.send('GET', `/devices/${screenId}/config`),
      await fixture.manage('GET', `/v1/screens/${unknownId}`),
      await fixture.send('PUT', `/devices/${screenId}/config`),
    ];
  });
}

/** Returns `each of them` if all errors follow the rule, or else the violations. */
async function eachError(
  fixture: Fixture,
  violationOf: (answer: Answer) => string | undefined,
): Promise<string> {
  const violations = (await errors(fixture)).flatMap((answer) => {
    const violation = violationOf(answer);
    return violation === undefined ? [] : [`${answer.status}: ${violation}`];
  });
  return violations.join('; ') || 'each of them';
}

const problems = checkGroup({ id: 'error', subject: 'An error', section: '1.4' }, [
  profile('type', 'is application/problem+json').expects('each of them', (fixture) =>
    eachError(fixture, ({ headers }) =>
      headers['content-type']?.startsWith('application/problem+json')
        ? undefined
        : String(headers['content-type']),
    ),
  ),
  profile('members', 'has type, title, status, detail, code and requestId').expects(
    'each of them',
    (fixture) =>
      eachError(fixture, ({ json, status }) => {
        const missing = ['type', 'title', 'detail', 'code', 'requestId'].filter(
          (name) => textAt(json, name) === '',
        );
        if (missing.length > 0) return `no ${missing.join(', ')}`;
        return at(json, 'status') === status ? undefined : `status ${at(json, 'status')}`;
      }),
  ),
  profile('request-id', 'has the X-Request-Id as requestId').expects('each of them', (fixture) =>
    eachError(fixture, ({ headers, json }) =>
      headers['x-request-id'] === textAt(json, 'requestId') ? undefined : 'another',
    ),
  ),
  profile('complaints', 'names each invalid_request error by path and message').expects(
    'a path and a message',
    async (fixture) => {
      const [invalid] = await errors(fixture);
      const all = listAt(invalid?.json, 'errors');
      const isWhole =
        all.length > 0 &&
        all.every((one) => typeof at(one, 'path') === 'string' && textAt(one, 'message') !== '');
      return isWhole ? 'a path and a message' : JSON.stringify(at(invalid?.json, 'errors'));
    },
  ),
  profile('truncated', 'lists at most 20 errors, with truncated if there are more').expects(
    '20 errors, truncated; 20 errors',
    async (fixture) => {
      const seen = await mapInTurn([25, 20], async (count) => {
        const unknown = Array.from({ length: count }, (_, n) => [`unknown${n}`, n]);
        const body = { name: fixture.newName(), ...Object.fromEntries(unknown) };
        const { json } = await fixture.manage('POST', '/v1/venues', body);
        const rest = at(json, 'truncated') === true ? ', truncated' : '';
        return `${listAt(json, 'errors').length} errors${rest}`;
      });
      return seen.join('; ');
    },
  ),
  profile('small', 'is smaller than 32 KiB, whatever the request').expects(
    '400 invalid_request, smaller',
    async (fixture) => {
      const unknown = Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`${n}${'\u0001'.repeat(1000)}`, n]),
      );
      const answer = await fixture.manage('POST', '/v1/venues', unknown);
      const size = Buffer.byteLength(answer.text);
      return [answer, size < 32 * 1024 ? 'smaller' : `${size} bytes`];
    },
  ),
  profile('no-stack', 'contains no stack trace').expects('none', async (fixture) =>
    (await errors(fixture)).some(({ text }) => /node_modules|\bat \w+ \(|\.[jt]s:\d+/.test(text))
      ? 'a stack trace'
      : 'none',
  ),
]);

/** Sends a request with this request id. Returns the request id of the response. */
async function requestIdFor(fixture: Fixture, requestId: string): Promise<string | undefined> {
  const sent = { headers: { 'x-request-id': requestId } };
  return (await fixture.manage('GET', '/v1/me', undefined, sent)).headers['x-request-id'];
}

const requestIds = checkGroup({ id: 'request-id', subject: 'X-Request-Id', section: '1.5' }, [
  profile('given', 'is the one of the request if that is well-formed').expects(
    'conformance-1.a_B',
    (fixture) => requestIdFor(fixture, 'conformance-1.a_B'),
  ),
  profile('own', 'is a new one of the service otherwise').expects('others', async (fixture) => {
    const first = await requestIdFor(fixture, 'not well-formed');
    const second = await requestIdFor(fixture, 'not well-formed');
    const areOwn = ![first, second].includes(undefined) && first !== 'not well-formed';
    return areOwn && first !== second ? 'others' : [first, second];
  }),
]);

const ofText = { 'content-type': 'text/plain' };
const tooLarge = { raw: ' '.repeat(1024 * 1024 + 1), headers: ofText };

const order = checkGroup({ id: 'order', subject: 'The order of checks', section: '1.3' }, [
  profile('path', 'an unknown path is 404 not_found, even without a credential').expects(
    '404 not_found, 404 not_found',
    async (fixture) => [
      await fixture.send('POST', '/v1/screen'),
      await fixture.send('GET', `/devices/${unknownId}/playlists`),
    ],
  ),
  profile('method', 'an unsupported method is 405 with Allow, even without a credential').expects(
    '405 method_not_allowed, GET, HEAD',
    async (fixture) => {
      const answer = await fixture.send('PUT', `/devices/${unknownId}/playlist`);
      const allow = (answer.headers.allow ?? '').split(',').map((method) => method.trim());
      return [answer, ...allow.sort()];
    },
  ),
  profile('literal', 'a literal path takes precedence over a parameter').expects(
    '405 method_not_allowed',
    (fixture) => fixture.manage('GET', '/v1/devices/provisioning-codes'),
  ),
  profile('credential', 'the credential is checked before the size of the body').expects(
    '401 device_key_missing',
    (fixture) => fixture.send('POST', `/devices/${unknownId}/events`, tooLarge),
  ),
  profile('size', 'the size is checked before the Content-Type').expects(
    '413 body_too_large',
    async (fixture) => (await fixture.tv()).send('POST', 'events', tooLarge),
  ),
  profile('content-type', 'the Content-Type is checked before the JSON').expects(
    '415 unsupported_media_type',
    async (fixture) => (await fixture.tv()).send('POST', 'events', { raw: '[', headers: ofText }),
  ),
  profile('json', 'the JSON is checked before the record').expects('400 invalid_json', (fixture) =>
    fixture.manage('PATCH', `/v1/screens/${unknownId}`, undefined, {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    }),
  ),
  profile('record', 'the record is checked before the body').expects(
    '404 screen_not_found',
    (fixture) => fixture.manage('PATCH', `/v1/screens/${unknownId}`, { nme: 1 }),
  ),
  profile('body', 'the body is checked before the state').expects(
    '400 invalid_request',
    async (fixture) => {
      const path = `/v1/devices/${(await fixture.newTv()).deviceId}/revoke`;
      return fixture.manage('POST', path, { reason: 1 });
    },
  ),
]);

const codings = checkGroup({ id: 'compression', subject: 'Compression', section: '1.9' }, [
  profile('unasked', 'a list without Accept-Encoding is not compressed').expects(
    '200, no Content-Encoding',
    async (fixture) => {
      const { status, headers } = await fixture.manage('GET', '/v1/venues');
      return [status, headers['content-encoding'] ?? 'no Content-Encoding'];
    },
  ),
  profile('vary', 'a compressed list has Vary: Accept-Encoding').expects(
    '200, yes or not compressed',
    async (fixture) => {
      const sent = { headers: { 'accept-encoding': 'gzip' } };
      const path = '/v1/venues?limit=200';
      const { status, headers } = await fixture.manage('GET', path, undefined, sent);
      const varies = /\baccept-encoding\b/i.test(headers.vary ?? '');
      const isRight = varies || headers['content-encoding'] === undefined;
      return [status, isRight ? 'yes or not compressed' : String(headers.vary)];
    },
  ),
  profile('config', 'a config has one ETag and is never compressed').expects(
    '200, the same ETag, not compressed',
    async (fixture) => {
      const { send } = await fixture.tv();
      const plain = await send('GET', 'config');
      const asked = await send('GET', 'config', { headers: { 'accept-encoding': 'br, gzip' } });
      const tag = asked.headers.etag === plain.headers.etag ? 'the same ETag' : 'another ETag';
      return [asked.status, tag, asked.headers['content-encoding'] ?? 'not compressed'];
    },
  ),
]);

/** Checks that apply to every request (docs/protocol.md §1). */
export const wireChecks: readonly ConformanceCheck[] = [
  ...problems,
  ...requestIds,
  ...order,
  ...codings,
];
