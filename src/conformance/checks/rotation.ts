import { isKey } from '../../domain/api-key.ts';
import { type Answer, said, saidAll, saidAt, status, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import type { Fixture, Tv } from '../fixture.ts';

const rotate = (tv: Tv, headers: Record<string, string> = {}) =>
  tv.send('POST', 'keys/rotate', { headers });
const newKey = ({ json }: Answer) => textAt(json, 'apiKey');
const use = (tv: Tv, key: string) => tv.send('GET', 'config', { key });

/** A TV with two keys: its own, and one that waits. */
async function rotated(stage: Fixture): Promise<{ tv: Tv; key: string }> {
  const tv = await stage.newTv();
  return { tv, key: newKey(await rotate(tv)) };
}

/** Changing the key (docs/protocol.md §2.8). */
export const rotationChecks: readonly Check[] = about(
  { id: 'rotate', subject: 'POST /devices/:id/keys/rotate', section: '2.8' },
  [
    profile(
      '201',
      '201 with another key, not to be kept by caches',
      '201, another key, no-store',
      async (stage) => {
        const tv = await stage.newTv();
        const answer = await rotate(tv);
        const key = newKey(answer);
        return `${status(answer)}, ${isKey('dak_', key) && key !== tv.apiKey ? 'another key' : 'no other key'}, ${answer.headers['cache-control']}`;
      },
    ),
    profile('both', 'the old key works until the new one is used', '200, 200', async (stage) => {
      const { tv, key } = await rotated(stage);
      return saidAll([await use(tv, tv.apiKey), await use(tv, key)]);
    }),
    profile(
      'over',
      'once the new one was used the old one is dead',
      '200, 401 device_key_revoked',
      async (stage) => {
        const { tv, key } = await rotated(stage);
        return saidAll([await use(tv, key), await use(tv, tv.apiKey)]);
      },
    ),
    profile(
      'refused-use',
      'a call of the new key that is refused is no use of it',
      '401 device_key_mismatch, 200',
      async (stage) => {
        const { tv, key } = await rotated(stage);
        const elsewhere = await stage.send(
          'GET',
          `/devices/${(await stage.tv()).screenId}/config`,
          { key },
        );
        return saidAll([elsewhere, await use(tv, tv.apiKey)]);
      },
    ),
    profile(
      'replaced',
      'another rotation replaces the key that waits',
      '401 device_key_revoked, 200',
      async (stage) => {
        const { tv, key } = await rotated(stage);
        const newer = newKey(await rotate(tv));
        return saidAll([await use(tv, key), await use(tv, newer)]);
      },
    ),
    profile(
      'same',
      'the same Idempotency-Key gets the same 201, byte for byte',
      'the same 201',
      async (stage) => {
        const [tv, key] = [await stage.newTv(), { 'idempotency-key': stage.key() }];
        const [first, second] = [await rotate(tv, key), await rotate(tv, key)];
        return second.status === 201 && first.text === second.text ? 'the same 201' : said(second);
      },
    ),
    profile(
      'late',
      'the Idempotency-Key of a key that was replaced is 400 idempotency_key_reused',
      '400 idempotency_key_reused',
      async (stage) => {
        const [tv, key] = [await stage.newTv(), { 'idempotency-key': stage.key() }];
        await rotate(tv, key);
        await rotate(tv, { 'idempotency-key': stage.key() });
        return said(await rotate(tv, key));
      },
    ),
    profile(
      'short',
      'an Idempotency-Key of 15 characters is 400',
      '400 invalid_request at header.idempotency-key',
      async (stage) =>
        saidAt(await rotate(await stage.tv(), { 'idempotency-key': 'x'.repeat(15) })),
    ),
    profile(
      'revoke',
      'a revoke ends both keys',
      '401 device_key_revoked, 401 device_key_revoked',
      async (stage) => {
        const { tv, key } = await rotated(stage);
        await stage.made('POST', `/v1/devices/${tv.deviceId}/revoke`);
        return saidAll([await use(tv, tv.apiKey), await use(tv, key)]);
      },
    ),
  ],
);
