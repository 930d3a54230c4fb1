import { type Answer, at, listAt, said, saidAll, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** One error of each kind that costs nothing: 400, 401, 404, 405. */
function errors(stage: Fixture): Promise<readonly Answer[]> {
  return stage.once('errors', async () => {
    const { send, screenId } = await stage.tv();
    return [
      await send('POST', 'events', { body: [{ type: 'heartbeat' }] }),
      await stage.send('GET', `/devices/${screenId}/config`),
      await stage.manage('GET', `/v1/screens/${unknownId}`),
      await stage.send('PUT', `/devices/${screenId}/config`),
    ];
  });
}

/** What is not so, of how many answers. */
const each = (answers: readonly Answer[], wrong: (answer: Answer) => string | undefined) =>
  answers.flatMap((answer) => {
    const what = wrong(answer);
    return what === undefined ? [] : [`${answer.status}: ${what}`];
  });

const problems = about({ id: 'error', subject: 'An error', section: '1.4' }, [
  profile('type', 'is application/problem+json', 'each of them', async (stage) =>
    each(await errors(stage), ({ headers }) =>
      headers['content-type']?.startsWith('application/problem+json')
        ? undefined
        : String(headers['content-type']),
    ),
  ),
  profile(
    'members',
    'has type, title, status, detail, code and requestId',
    'each of them',
    async (stage) =>
      each(await errors(stage), ({ json, status }) => {
        const missing = ['type', 'title', 'detail', 'code', 'requestId'].filter(
          (name) => textAt(json, name) === '',
        );
        return missing.length > 0
          ? `no ${missing.join(', ')}`
          : at(json, 'status') === status
            ? undefined
            : `status ${at(json, 'status')}`;
      }),
  ),
  profile('request-id', 'says the X-Request-Id as its requestId', 'each of them', async (stage) =>
    each(await errors(stage), ({ headers, json }) =>
      headers['x-request-id'] === textAt(json, 'requestId') ? undefined : 'another',
    ),
  ),
  profile(
    'complaints',
    'names what is wrong by path and message, with invalid_request',
    'a path and a message',
    async (stage) => {
      const [invalid] = await errors(stage);
      const all = listAt(invalid?.json, 'errors');
      const isWhole =
        all.length > 0 &&
        all.every((one) => typeof at(one, 'path') === 'string' && textAt(one, 'message') !== '');
      return isWhole
        ? 'a path and a message'
        : (JSON.stringify(at(invalid?.json, 'errors')) ?? 'no errors');
    },
  ),
  profile(
    'truncated',
    'lists 20 errors at most, and says when there are more',
    '20 errors, truncated; 20 errors',
    async (stage) => {
      const seen: string[] = [];
      for (const count of [25, 20]) {
        const unknown = Object.fromEntries(
          Array.from({ length: count }, (_, n) => [`unknown${n}`, n]),
        );
        const { json } = await stage.manage('POST', '/v1/venues', {
          name: `${stage.name} ${stage.next()}`,
          ...unknown,
        });
        seen.push(
          `${listAt(json, 'errors').length} errors${at(json, 'truncated') === true ? ', truncated' : ''}`,
        );
      }
      return seen.join('; ');
    },
  ),
  profile(
    'small',
    'is smaller than 32 KiB, whatever is wrong',
    '400 invalid_request, smaller',
    async (stage) => {
      const unknown = Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`${n}${'\u0001'.repeat(1000)}`, n]),
      );
      const answer = await stage.manage('POST', '/v1/venues', unknown);
      const size = Buffer.byteLength(answer.text);
      return `${said(answer)}, ${size < 32 * 1024 ? 'smaller' : `${size} bytes`}`;
    },
  ),
  profile('no-stack', 'shows no stack trace', 'none', async (stage) =>
    (await errors(stage)).some(({ text }) => /node_modules|\bat \w+ \(|\.[jt]s:\d+/.test(text))
      ? 'a stack trace'
      : 'none',
  ),
]);

const requestIds = about({ id: 'request-id', subject: 'X-Request-Id', section: '1.5' }, [
  profile('given', 'is the caller’s when it is well-formed', 'conformance-1.a_B', async (stage) =>
    String(
      (
        await stage.manage('GET', '/v1/me', undefined, {
          headers: { 'x-request-id': 'conformance-1.a_B' },
        })
      ).headers['x-request-id'],
    ),
  ),
  profile(
    'own',
    'is one of the service’s own otherwise, and each time another',
    'others',
    async (stage) => {
      const ask = async () =>
        (
          await stage.manage('GET', '/v1/me', undefined, {
            headers: { 'x-request-id': 'not well-formed' },
          })
        ).headers['x-request-id'];
      const [first, second] = [await ask(), await ask()];
      return first !== undefined &&
        second !== undefined &&
        first !== second &&
        first !== 'not well-formed'
        ? 'others'
        : `${first}, ${second}`;
    },
  ),
]);

const order = about({ id: 'order', subject: 'The order of checks', section: '1.3' }, [
  profile(
    'path',
    'a path that there is not is 404 not_found, without a credential',
    '404 not_found, 404 not_found',
    async (stage) =>
      saidAll([
        await stage.send('POST', '/v1/screen'),
        await stage.send('GET', `/devices/${unknownId}/playlists`),
      ]),
  ),
  profile(
    'method',
    'a method that there is not is 405 with Allow, without a credential',
    '405 method_not_allowed, GET, HEAD',
    async (stage) => {
      const answer = await stage.send('PUT', `/devices/${unknownId}/playlist`);
      const allow = (answer.headers.allow ?? '').split(',').map((method) => method.trim());
      return `${said(answer)}, ${allow.sort().join(', ')}`;
    },
  ),
  profile(
    'literal',
    'a literal path wins over one with a parameter',
    '405 method_not_allowed',
    async (stage) => said(await stage.manage('GET', '/v1/devices/provisioning-codes')),
  ),
  profile(
    'credential',
    'the credential comes before the size of the body',
    '401 device_key_missing',
    async (stage) =>
      said(
        await stage.send('POST', `/devices/${unknownId}/events`, {
          raw: ' '.repeat(1024 * 1024 + 1),
          headers: { 'content-type': 'text/plain' },
        }),
      ),
  ),
  profile('size', 'the size comes before the Content-Type', '413 body_too_large', async (stage) =>
    said(
      await (await stage.tv()).send('POST', 'events', {
        raw: ' '.repeat(1024 * 1024 + 1),
        headers: { 'content-type': 'text/plain' },
      }),
    ),
  ),
  profile(
    'content-type',
    'the Content-Type comes before the JSON',
    '415 unsupported_media_type',
    async (stage) =>
      said(
        await (await stage.tv()).send('POST', 'events', {
          raw: '[',
          headers: { 'content-type': 'text/plain' },
        }),
      ),
  ),
  profile('json', 'the JSON comes before the record', '400 invalid_json', async (stage) =>
    said(
      await stage.manage('PATCH', `/v1/screens/${unknownId}`, undefined, {
        raw: '{',
        headers: { 'content-type': 'application/json' },
      }),
    ),
  ),
  profile('record', 'the record comes before the body', '404 screen_not_found', async (stage) =>
    said(await stage.manage('PATCH', `/v1/screens/${unknownId}`, { nme: 1 })),
  ),
  profile('body', 'the body comes before the state', '400 invalid_request', async (stage) =>
    said(
      await stage.manage('POST', `/v1/devices/${(await stage.newTv()).deviceId}/revoke`, {
        reason: 1,
      }),
    ),
  ),
]);

/** What holds for every request (docs/protocol.md §1). */
export const wireChecks: readonly Check[] = [...problems, ...requestIds, ...order];
