import { isKey } from '../../domain/api-key.ts';
import { type Answer, textAt } from '../answer.ts';
import { type Check, checkGroup, profile } from '../check.ts';
import type { Fixture, Tv } from '../fixture.ts';

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
export const rotationChecks: readonly Check[] = checkGroup(
  { id: 'rotate', subject: 'POST /devices/:id/keys/rotate', section: '2.8' },
  [
    profile(
      '201',
      '201 with a new key, and Cache-Control is no-store',
      '201, another key, no-store',
      async (fixture) => {
        const tv = await fixture.newTv();
        const answer = await rotate(tv);
        const key = newKey(answer);
        const isOther = isKey('dak_', key) && key !== tv.apiKey;
        return [answer, isOther ? 'another key' : 'no other key', answer.headers['cache-control']];
      },
    ),
    profile('both', 'the old key works until the new one is used', '200, 200', async (fixture) => {
      const { tv, key } = await rotated(fixture);
      return [await use(tv, tv.apiKey), await use(tv, key)];
    }),
    profile(
      'over',
      'the old key is revoked once the new one is used',
      '200, 401 device_key_revoked',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        return [await use(tv, key), await use(tv, tv.apiKey)];
      },
    ),
    profile(
      'refused-use',
      'a rejected call does not count as a use of the new key',
      '401 device_key_mismatch, 200',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        const elsewhere = await fixture.send(
          'GET',
          `/devices/${(await fixture.tv()).screenId}/config`,
          { key },
        );
        return [elsewhere, await use(tv, tv.apiKey)];
      },
    ),
    profile(
      'replaced',
      'another rotation replaces an unused new key',
      '401 device_key_revoked, 200',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        const newer = newKey(await rotate(tv));
        return [await use(tv, key), await use(tv, newer)];
      },
    ),
    profile(
      'same',
      'the same Idempotency-Key gets the same 201, byte for byte',
      'the same 201',
      async (fixture) => {
        const tv = await fixture.newTv();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        const first = await rotate(tv, key);
        const second = await rotate(tv, key);
        return second.status === 201 && first.text === second.text ? 'the same 201' : second;
      },
    ),
    profile(
      'late',
      'the Idempotency-Key of a replaced key is 400 idempotency_key_reused',
      '400 idempotency_key_reused',
      async (fixture) => {
        const tv = await fixture.newTv();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        await rotate(tv, key);
        await rotate(tv, { 'idempotency-key': fixture.idempotencyKey() });
        return rotate(tv, key);
      },
    ),
    profile(
      'short',
      'an Idempotency-Key of 15 characters is 400',
      '400 invalid_request at header.idempotency-key',
      async (fixture) => rotate(await fixture.tv(), { 'idempotency-key': 'x'.repeat(15) }),
    ),
    profile(
      'revoke',
      'a revocation ends both keys',
      '401 device_key_revoked, 401 device_key_revoked',
      async (fixture) => {
        const { tv, key } = await rotated(fixture);
        await fixture.requireOk('POST', `/v1/devices/${tv.deviceId}/revoke`);
        return [await use(tv, tv.apiKey), await use(tv, key)];
      },
    ),
  ],
);
