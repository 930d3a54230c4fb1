import { pause } from '../../client/pause.ts';
import { secondMs } from '../../domain/clock.ts';
import { at } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { item } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Tolerance for small clock differences. */
const marginMs = 2 * secondMs;

/**
 * Waits until two codes have expired: an unused code, and a code used with the `Idempotency-Key`
 * `key`.
 */
function expiredCodes(fixture: Fixture): Promise<{ unused: string; used: string; key: string }> {
  return fixture.once('expired codes', async () => {
    const unused = (await fixture.code()).code;
    const used = (await fixture.code()).code;
    const key = fixture.idempotencyKey();
    await fixture.register(used, {}, { headers: { 'idempotency-key': key } });
    const { json } = await fixture.manage('GET', `/v1/devices/provisioning-codes/${unused}/status`);
    const leftMs = Number(at(json, 'expiresInSeconds')) * secondMs;
    await pause(fixture.clock, leftMs + marginMs, fixture.signal);
    return { unused, used, key };
  });
}

/** Checks that wait for expiry (docs/protocol.md §2.3, §3.2, §3.4, §4). */
export const waitingChecks: readonly ConformanceCheck[] = [
  ...checkGroup(
    { id: 'playlist', subject: 'GET /devices/:id/playlist', section: '2.3', needs: 'time' },
    [
      profile('expired', '404 after validUntil').expects(
        '200, 404 playlist_not_found',
        async (fixture) => {
          const tv = await fixture.newTv();
          const validUntil = fixture.nowSeconds() + 3;
          await fixture.publish(tv.screenId, [item()], { validUntil });
          const before = await tv.send('GET', 'playlist');
          await pause(fixture.clock, 3 * secondMs + marginMs, fixture.signal);
          return [before, await tv.send('GET', 'playlist')];
        },
      ),
    ],
  ),
  ...checkGroup(
    { id: 'register', subject: 'POST /devices/register', section: '3.4', needs: 'time' },
    [
      profile('410.expired', '410 for an expired code').expects(
        '410 pairing_code_expired',
        async (fixture) => fixture.register((await expiredCodes(fixture)).unused),
      ),
      profile('key.expired', 'the repeat is 409 once the code has expired').expects(
        '409 pairing_code_used',
        async (fixture) => {
          const { used, key } = await expiredCodes(fixture);
          return fixture.register(used, {}, { headers: { 'idempotency-key': key } });
        },
      ),
    ],
  ),
  ...checkGroup(
    {
      id: 'code-status',
      subject: 'GET /v1/devices/provisioning-codes/:code/status',
      section: '4',
      needs: 'time',
    },
    [
      profile('expired', 'an expired code has no time left').expects(
        'expired, 0',
        async (fixture) => {
          const { unused } = await expiredCodes(fixture);
          const path = `/v1/devices/provisioning-codes/${unused}/status`;
          const json = await fixture.requireOk('GET', path);
          return [at(json, 'status'), at(json, 'expiresInSeconds')];
        },
      ),
    ],
  ),
];
