import { isKey } from '../../domain/api-key.ts';
import { mapInTurn } from '../../domain/concurrency.ts';
import { type Answer, challenge, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { heartbeats, unknownId } from '../fixture/content.ts';
import type { Fixture, Tv } from '../fixture/fixture.ts';

interface Call {
  id: string;
  method: string;
  what: string;
}

const calls: readonly Call[] = [
  { id: 'playlist', method: 'GET', what: 'playlist' },
  { id: 'config', method: 'GET', what: 'config' },
  { id: 'events', method: 'POST', what: 'events' },
];

/** Makes one call with this id in its path, with or without a key. */
function callWith(
  fixture: Fixture,
  { method, what }: Call,
  id: string,
  key: string | undefined,
): Promise<Answer> {
  return fixture.send(method, `/devices/${id}/${what}`, {
    key,
    ...(method === 'POST' && { body: heartbeats(1, fixture.uniqueTimestamp()) }),
  });
}

/** Returns a TV whose device is revoked. */
function revokedTv(fixture: Fixture): Promise<Tv> {
  return fixture.once('revoked TV', async () => {
    const tv = await fixture.newTv();
    await fixture.revoke(tv.deviceId, { reason: 'conformance' });
    return tv;
  });
}

/** Returns a TV whose screen is deleted. */
function orphanedTv(fixture: Fixture): Promise<Tv> {
  return fixture.once('orphaned TV', async () => {
    const tv = await fixture.newTv();
    await fixture.requireOk('DELETE', `/v1/screens/${tv.screenId}?force=true`);
    return tv;
  });
}

/** A well-formed key that was never issued. */
const madeUpKey = `dak_${'A'.repeat(49)}`;

const reasons: Readonly<
  Record<string, { when: string; ask(fixture: Fixture, call: Call): Promise<Answer> }>
> = {
  missing: {
    when: 'without a key',
    ask: async (fixture, call) => callWith(fixture, call, (await fixture.tv()).screenId, undefined),
  },
  invalid: {
    when: 'with a key that was never issued',
    ask: async (fixture, call) => callWith(fixture, call, (await fixture.tv()).screenId, madeUpKey),
  },
  revoked: {
    when: 'with the key of a device that was revoked',
    async ask(fixture, call) {
      const { screenId, apiKey } = await revokedTv(fixture);
      return callWith(fixture, call, screenId, apiKey);
    },
  },
  orphaned: {
    when: 'with a key whose screen is gone',
    async ask(fixture, call) {
      const { screenId, apiKey } = await orphanedTv(fixture);
      return callWith(fixture, call, screenId, apiKey);
    },
  },
  mismatch: {
    when: 'with the key of another screen',
    ask: async (fixture, call) =>
      callWith(fixture, call, (await fixture.tv()).screenId, (await fixture.plainTv()).apiKey),
  },
};

const rejections: readonly ConformanceCheck[] = calls.flatMap((call) =>
  checkGroup(
    { id: call.id, subject: `${call.method} /devices/:id/${call.what}`, section: '2.1' },
    Object.entries(reasons).flatMap(([reason, { when, ask }]) => [
      required(`401.${reason}`, `401 ${when}`).expects('401', (fixture) => ask(fixture, call)),
      profile(`401.${reason}.code`, `device_key_${reason} ${when}`).expects(
        `401 device_key_${reason}`,
        (fixture) => ask(fixture, call),
      ),
    ]),
  ),
);

/** Requests the TV's config with this `Authorization` header. */
const getConfigWith = async (fixture: Fixture, authorization: string) =>
  fixture.send('GET', `/devices/${(await fixture.tv()).screenId}/config`, {
    headers: { authorization },
  });

/** Checks of device keys (docs/protocol.md §2.1, §2.2). */
export const deviceKeyChecks: readonly ConformanceCheck[] = [
  ...rejections,
  ...checkGroup({ id: 'device-key', subject: 'Device key', section: '2.1' }, [
    profile('scheme', 'the scheme is case-insensitive').expects('200, 200', async (fixture) => {
      const { apiKey } = await fixture.tv();
      return [
        await getConfigWith(fixture, `bearer ${apiKey}`),
        await getConfigWith(fixture, `BEARER ${apiKey}`),
      ];
    }),
    profile('form', 'anything that is not a key is device_key_invalid').expects(
      [0, 0, 0].map(() => '401 device_key_invalid').join(', '),
      async (fixture) => {
        const { apiKey } = await fixture.tv();
        return [
          await getConfigWith(fixture, 'Bearer'),
          await getConfigWith(fixture, `Basic ${apiKey}`),
          await getConfigWith(fixture, `Bearer ${apiKey} x`),
        ];
      },
    ),
    profile('typo', 'a key with one letter changed is device_key_invalid').expects(
      '401 device_key_invalid',
      async (fixture) => {
        const { apiKey } = await fixture.tv();
        const letter = apiKey.at(20) === 'x' ? 'y' : 'x';
        return getConfigWith(fixture, `Bearer ${apiKey.slice(0, 20)}${letter}${apiKey.slice(21)}`);
      },
    ),
    profile('unknown-id', 'unknown and malformed ids get the same error as other screens').expects(
      '401 device_key_mismatch, 401 device_key_mismatch',
      async (fixture) => {
        const { apiKey } = await fixture.tv();
        const ask = (id: string) => fixture.send('GET', `/devices/${id}/config`, { key: apiKey });
        return [await ask(unknownId), await ask('nowhere')];
      },
    ),
    profile('order', 'a revoked key is device_key_revoked, even for another id').expects(
      '401 device_key_revoked',
      async (fixture) =>
        fixture.send('GET', `/devices/${unknownId}/config`, {
          key: (await revokedTv(fixture)).apiKey,
        }),
    ),
    profile('www-authenticate', 'every 401 has WWW-Authenticate: Bearer').expects(
      'Bearer, Bearer, Bearer, Bearer, Bearer',
      async (fixture) => {
        const answers = await mapInTurn(Object.values(reasons), ({ ask }) =>
          ask(fixture, calls[1] as Call),
        );
        return answers.map(challenge);
      },
    ),
    profile('no-token', 'a management token is not accepted as a device key').expects(
      '401 device_key_invalid',
      async (fixture) => fixture.manage('GET', `/devices/${(await fixture.tv()).screenId}/config`),
    ),
  ]),
  ...checkGroup({ id: 'device-id', subject: 'The id of the device', section: '2.2' }, [
    profile('accepted', 'is accepted in place of the screen id').expects(
      '200, 200, 202',
      async (fixture) => {
        const { deviceId, apiKey } = await fixture.tv();
        return mapInTurn(calls, (call) => callWith(fixture, call, deviceId, apiKey));
      },
    ),
  ]),
];

const rotate = (tv: Tv, headers: Record<string, string> = {}) =>
  tv.send('POST', 'keys/rotate', { headers });
const newKey = ({ json }: Answer) => textAt(json, 'apiKey');
const use = (tv: Tv, key: string) => tv.send('GET', 'config', { key });

/** Returns a TV with two keys: its own, and a new one that is not used yet. */
async function rotated(fixture: Fixture): Promise<{ tv: Tv; key: string }> {
  const tv = await fixture.newTv();
  return { tv, key: newKey(await rotate(tv)) };
}

/** Checks of key rotation (docs/protocol.md §2.8). */
export const rotationChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'rotate', subject: 'POST /devices/:id/keys/rotate', section: '2.8' },
  [
    profile('201', '201 with a new key, and Cache-Control is no-store').expects(
      '201, another key, no-store',
      async (fixture) => {
        const tv = await fixture.newTv();
        const answer = await rotate(tv);
        const key = newKey(answer);
        const isOther = isKey('dak_', key) && key !== tv.apiKey;
        return [answer, isOther ? 'another key' : 'no other key', answer.headers['cache-control']];
      },
    ),
    profile('both', 'the old key works until the new one is used').expects(
      '200, 200',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        return [await use(tv, tv.apiKey), await use(tv, key)];
      },
    ),
    profile('over', 'the old key is revoked once the new one is used').expects(
      '200, 401 device_key_revoked',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        return [await use(tv, key), await use(tv, tv.apiKey)];
      },
    ),
    profile('refused-use', 'a rejected call does not count as a use of the new key').expects(
      '401 device_key_mismatch, 200',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        return [await use(await fixture.tv(), key), await use(tv, tv.apiKey)];
      },
    ),
    profile('replaced', 'another rotation replaces an unused new key').expects(
      '401 device_key_revoked, 200',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        const newer = newKey(await rotate(tv));
        return [await use(tv, key), await use(tv, newer)];
      },
    ),
    profile('same', 'the same Idempotency-Key gets the same 201, byte for byte').expects(
      'the same 201',
      async (fixture) => {
        const tv = await fixture.newTv();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        const first = await rotate(tv, key);
        const second = await rotate(tv, key);
        return second.status === 201 && first.text === second.text ? 'the same 201' : second;
      },
    ),
    profile('late', 'the Idempotency-Key of a replaced key is 400 idempotency_key_reused').expects(
      '400 idempotency_key_reused',
      async (fixture) => {
        const tv = await fixture.newTv();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        await rotate(tv, key);
        await rotate(tv, { 'idempotency-key': fixture.idempotencyKey() });
        return rotate(tv, key);
      },
    ),
    profile('short', 'an Idempotency-Key of 15 characters is 400').expects(
      '400 invalid_request at header.idempotency-key',
      async (fixture) => rotate(await fixture.tv(), { 'idempotency-key': 'x'.repeat(15) }),
    ),
    profile('revoke', 'a revocation ends both keys').expects(
      '401 device_key_revoked, 401 device_key_revoked',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        await fixture.revoke(tv.deviceId);
        return [await use(tv, tv.apiKey), await use(tv, key)];
      },
    ),
  ],
);
